/**
 * Fake provider that streams. The query sets `events` and `intervalMs`. Each event holds the time it was written, from which a client
 * computes its delay. Arguments: port.
 */
import { createServer } from 'node:http';

const port = Number(process.argv[2]);

const server = createServer((request, response) => {
	let text = '';
	request.setEncoding('utf8');
	request.on('data', (chunk: string) => {
		text += chunk;
	});
	request.on('end', () => {
		if (request.method !== 'POST') {
			response.end('ready');
			return;
		}
		const model = (JSON.parse(text) as { model: string }).model;
		const [, events = '100', intervalMs = '20'] = model.split('-');
		response.writeHead(200, { 'content-type': 'text/event-stream' });
		stream(Number(events), Number(intervalMs), (event) => {
			if (event === undefined) response.end();
			else response.write(event);
		});
	});
});
server.keepAliveTimeout = 60_000;
server.listen(port, '127.0.0.1');

function stream(events: number, intervalMs: number, write: (event: string | undefined) => void): void {
	let count = 0;
	const next = (): void => {
		if (count === events) {
			write('data: [DONE]\n\n');
			write(undefined);
			return;
		}
		count += 1;
		write(
			`data: {"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1790000000,"model":"gpt-4o","choices":[{"index":0,"delta":{"content":" ${now()} "},"finish_reason":null}]}\n\n`,
		);
		setTimeout(next, intervalMs);
	};
	next();
}

/** Milliseconds on a clock that all processes of the machine share, with three decimals. */
function now(): string {
	return `t=${(performance.timeOrigin + performance.now()).toFixed(3)}`;
}
