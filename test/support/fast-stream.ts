/** A provider that streams far more than any socket holds, as fast as it is read. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FastStream {
	readonly origin: string;
	/** Of each answer. */
	readonly totalBytes: number;
	/** Of the newest answer, as far as the system has taken it. */
	readonly sentBytes: number;
	close(): Promise<void>;
}

const event = Buffer.from(`data: {"padding":"${'x'.repeat(65_536)}"}\n\n`);
/** Of both formats at once: each reads over the other's. */
const end = Buffer.from('event: message_stop\ndata: {"type":"message_stop"}\n\ndata: [DONE]\n\n');

/** @param eventCount of each answer, 64 KiB each. */
export async function startFastStream(eventCount = 1000): Promise<FastStream> {
	let sentBytes = 0;
	const server = createServer((request, response) => {
		request.resume();
		sentBytes = 0;
		response.writeHead(200, { 'content-type': 'text/event-stream' });
		let sent = 0;
		const fill = (): void => {
			while (sent < eventCount) {
				sent++;
				sentBytes = sent * event.length;
				if (!response.write(event)) {
					response.once('drain', fill);
					return;
				}
			}
			response.end(end);
		};
		fill();
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return {
		origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		totalBytes: eventCount * event.length + end.length,
		get sentBytes() {
			return sentBytes;
		},
		async close() {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}
