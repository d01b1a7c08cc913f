/** Upstream client of the product, a test's requests with it, and their outcomes. */
import { onTestFinished } from 'vitest';
import { readAll } from '../../src/core/byte-stream.ts';
import type { ByteStream } from '../../src/core/handler.ts';
import type { UpstreamRequest, UpstreamResponse } from '../../src/core/upstream.ts';
import { createUpstreamClient, type UpstreamClient, type UpstreamClientOptions } from '../../src/io/http1/client/upstream-client.ts';
import { createUndiciClient } from '../../src/io/http1/undici/undici-client.ts';
import { systemClock } from '../../src/io/system-clock.ts';
import { createRecordingLog, type RecordingLog } from './recording-log.ts';
import { type ScriptedConnection, type ScriptedServer, startScriptedServer } from './scripted-server.ts';

interface StartedClient extends UpstreamClient {
	readonly log: RecordingLog;
}

export const clientMakers = { native: createUpstreamClient, undici: createUndiciClient };

export function startClient(overrides: Partial<UpstreamClientOptions> = {}, create = createUpstreamClient): StartedClient {
	const log = createRecordingLog();
	const client = create({
		clock: systemClock,
		log,
		maxConnectionsPerOrigin: 10,
		isAllowedAddress: (address) => !address.startsWith('127.') && address !== '::1',
		...overrides,
	});
	onTestFinished(() => client.close());
	return { ...client, log };
}

export async function startServer(script?: (connection: ScriptedConnection) => void): Promise<ScriptedServer> {
	const server = await startScriptedServer(script);
	onTestFinished(() => server.close());
	return server;
}

export function request(server: { origin: string }, overrides: Partial<UpstreamRequest> = {}): UpstreamRequest {
	return {
		origin: server.origin,
		method: 'POST',
		target: '/v1/messages?beta=true',
		headers: { 'content-type': 'application/json' },
		body: Buffer.from('{"a":1}'),
		timeouts: { connectMs: 2000, firstByteMs: 2000, idleMs: 2000, totalMs: 5000 },
		canReachPrivateNetwork: true,
		onClientDisconnect: () => undefined,
		...overrides,
	};
}

export const responseBytes = (body: string, ...fields: string[]): string =>
	['HTTP/1.1 200 OK', `content-length: ${body.length}`, ...fields, '', body].join('\r\n');

export const responses =
	(bytes: string) =>
	(connection: ScriptedConnection): void =>
		connection.send(bytes);

export async function bodyOf(response: UpstreamResponse): Promise<string> {
	return (await readAll(response.body, 100_000_000)).toString('latin1');
}

export const chunkedHead = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';

/** Resolves with the cause of a rejection; call it before the promise rejects. */
export async function causeOf(promise: Promise<unknown>): Promise<unknown> {
	return await promise.then(
		() => undefined,
		(cause: unknown) => cause,
	);
}

/** Collects the pieces of a stream, and its error; undefined if it ends correctly. */
export function collect(stream: ByteStream): { pieces: Buffer[]; outcome: Promise<unknown> } {
	const pieces: Buffer[] = [];
	const outcome = new Promise((resolve) => {
		stream.start({ write: (chunk) => pieces.push(chunk) > 0, end: () => resolve(undefined), fail: resolve });
	});
	return { pieces, outcome };
}
