/** Provider that streams far more than any socket buffers, as fast as it is read. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FastStream {
	readonly origin: string;
	/** Size of each response. */
	readonly totalBytes: number;
	/** Bytes of the newest response that the operating system has accepted. */
	readonly sentBytes: number;
	close(): Promise<void>;
}

const event = Buffer.from(`data: {"padding":"${'x'.repeat(65_536)}"}\n\n`);
/** End of all formats at once: each client ignores those of the others. */
const end = Buffer.from(
	'event: response.completed\ndata: {"type":"response.completed"}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\ndata: [DONE]\n\n',
);

/** @param eventCount of each response, 64 KiB each. */
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
