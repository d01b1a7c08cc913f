/** Plain `node:http` server in front of a handler, for tests of handlers that need no more. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { isByteStream } from '../../src/core/byte-stream.ts';
import { type ByteStream, ConnectionReset, type Handler, type HttpRequest } from '../../src/core/handler.ts';

export interface ServedHandler {
	/** Origin, such as `http://127.0.0.1:40123`. */
	readonly origin: string;
	close(): Promise<void>;
}

export async function serveHandler(handle: Handler): Promise<ServedHandler> {
	const sockets = new Set<Socket>();
	const server = createServer((incoming, outgoing) => void httpResponse(handle, incoming, outgoing));
	server.on('connection', (socket) => {
		sockets.add(socket);
		socket.on('close', () => sockets.delete(socket));
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return {
		origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		async close() {
			for (const socket of sockets) socket.destroy();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}

async function httpResponse(handle: Handler, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
	try {
		const response = await handle(requestOf(incoming, outgoing));
		if (outgoing.destroyed) return;
		for (const [name, value] of Object.entries(response.headers)) if (value !== undefined) outgoing.setHeader(name, value);
		outgoing.statusCode = response.status;
		if (response.body === null || !isByteStream(response.body)) {
			outgoing.end(response.body ?? undefined);
			return;
		}
		outgoing.flushHeaders();
		const flow = response.body.start({
			write: (chunk) => outgoing.write(chunk),
			end: () => outgoing.end(),
			fail: () => outgoing.destroy(),
		});
		outgoing.on('drain', () => flow.resume());
		outgoing.on('close', () => flow.cancel());
	} catch (cause) {
		if (!(cause instanceof ConnectionReset) && !outgoing.headersSent) outgoing.writeHead(500).end(String(cause));
		else outgoing.destroy();
	}
}

function requestOf(incoming: IncomingMessage, outgoing: ServerResponse): HttpRequest {
	const [path = '/', query = ''] = (incoming.url ?? '/').split(/\?(.*)/s);
	const length = incoming.headers['content-length'];
	return {
		id: crypto.randomUUID(),
		method: incoming.method ?? 'GET',
		path,
		query,
		headers: incoming.headers,
		body: streamOfRequest(incoming),
		announcedLength: length === undefined ? 0 : Number(length),
		peerAddress: incoming.socket.remoteAddress ?? '',
		arrivedMs: performance.now(),
		onClientDisconnect(listener) {
			if (outgoing.closed && !outgoing.writableFinished) listener();
			else outgoing.once('close', () => void (outgoing.writableFinished || listener()));
		},
	};
}

function streamOfRequest(incoming: IncomingMessage): ByteStream {
	return {
		start(sink) {
			incoming.on('data', (chunk: Buffer) => void sink.write(chunk));
			incoming.on('end', () => sink.end());
			incoming.on('error', (cause) => sink.fail(cause));
			return { resume: () => {}, cancel: () => void incoming.destroy() };
		},
	};
}
