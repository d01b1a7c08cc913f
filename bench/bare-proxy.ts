/** Minimum work of a gateway on Node: parse the JSON, request the provider, relay. Arguments: port, upstream origin. */
import { createServer } from 'node:http';
import { Pool } from 'undici';

const port = Number(process.argv[2]);
const pool = new Pool(process.argv[3] ?? '', { connections: 4096 });

const server = createServer((request, response) => {
	if (request.method !== 'POST') {
		response.end('ready');
		return;
	}
	const pieces: Buffer[] = [];
	request.on('data', (piece: Buffer) => pieces.push(piece));
	request.on('end', () => {
		const body = Buffer.concat(pieces);
		JSON.parse(body.toString());
		pool.dispatch(
			{ path: request.url ?? '/', method: 'POST', headers: { 'content-type': 'application/json' }, body },
			{
				onRequestStart() {},
				onResponseStart(_controller, statusCode, headers) {
					response.writeHead(statusCode, { 'content-type': String(headers['content-type']) });
				},
				onResponseData(_controller, chunk) {
					response.write(chunk);
				},
				onResponseEnd() {
					response.end();
				},
				onResponseError() {
					response.destroy();
				},
			},
		);
	});
});
server.keepAliveTimeout = 60_000;
server.listen(port, '127.0.0.1');
