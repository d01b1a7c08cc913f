import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer, type Server, Socket } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import { until } from '../../../test/support/until.ts';
import { type Accepted, adoptSocketWithSharedBuffer, type SocketReads } from './shared-read-buffer.ts';

async function listen(server: Server): Promise<number> {
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const address = server.address();
	return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

interface Pair {
	readonly server: Server;
	readonly client: Socket;
	readonly accepted: Accepted;
	readonly reads: SocketReads;
}

async function open(options: { readonly allowHalfOpen?: boolean } = {}): Promise<Pair> {
	const server = createServer(options);
	const port = await listen(server);
	const client = connect(port, '127.0.0.1');
	const [socket] = (await once(server, 'connection')) as [Socket];
	const accepted = adoptSocketWithSharedBuffer(socket);
	onTestFinished(() => {
		client.destroy();
		accepted.socket.destroy();
		server.close();
	});
	return { server, client, accepted, reads: accepted.reads ?? expect.fail('it has `data` events') };
}

const connectionsOf = (server: Server): Promise<number> =>
	new Promise((resolve, reject) => server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))));

const digestOf = (pieces: readonly Buffer[]): string => createHash('sha256').update(Buffer.concat(pieces)).digest('hex');

describe('a connection that a server has accepted', () => {
	test('delivers pieces that stay unchanged', async () => {
		const pairs = [await open(), await open()];
		const received = pairs.map(({ reads }) => {
			const pieces: Buffer[] = [];
			reads.take = (piece) => void pieces.push(piece);
			return pieces;
		});
		const sent = pairs.map(() => Array.from({ length: 50 }, (_, turn) => randomBytes(1 + turn * 97)));
		for (let turn = 0; turn < 50; turn++) {
			for (const [which, { client }] of pairs.entries()) client.write(sent[which]?.[turn] ?? '');
			await new Promise((resolve) => setImmediate(resolve));
		}
		for (const [which, pieces] of received.entries()) {
			const expected = sent[which] ?? [];
			await until(() => Buffer.concat(pieces).length === Buffer.concat(expected).length);
			expect(digestOf(pieces)).toBe(digestOf(expected));
		}
	});

	test('stops reading when it is paused, until it is resumed', async () => {
		const { client, accepted, reads } = await open();
		const bytes = randomBytes(4_000_000);
		const pieces: Buffer[] = [];
		reads.take = (piece) => {
			if (pieces.push(piece) === 1) accepted.socket.pause();
		};
		client.write(bytes);
		await until(() => pieces.length === 1);
		await new Promise((resolve) => setTimeout(resolve, 30));
		expect(pieces).toHaveLength(1);
		accepted.socket.resume();
		await until(() => Buffer.concat(pieces).length === bytes.length);
		expect(digestOf(pieces)).toBe(digestOf([bytes]));
	});

	test('emits pieces without a taker as `data` events, at the pace of their reader', async () => {
		const { client, accepted, reads } = await open();
		const taken: Buffer[] = [];
		reads.take = (piece) => void taken.push(piece);
		client.write('first');
		await until(() => taken.length > 0);
		accepted.socket.pause();
		reads.take = undefined;
		const bytes = randomBytes(4_000_000);
		client.write(bytes);
		await new Promise((resolve) => setTimeout(resolve, 30));
		expect(accepted.socket.bytesRead).toBeLessThan(200_000);
		const pieces: Buffer[] = [];
		accepted.socket.on('data', (piece: Buffer) => {
			pieces.push(piece);
			accepted.socket.pause();
			setImmediate(() => accepted.socket.resume());
		});
		accepted.socket.resume();
		await until(() => Buffer.concat(pieces).length === bytes.length);
		expect(digestOf(pieces)).toBe(digestOf([bytes]));
		expect(Buffer.concat(taken).toString()).toBe('first');
	});

	test('belongs to the server until it ends, and the server ends after it', async () => {
		const { server, client, accepted } = await open();
		expect(await connectionsOf(server)).toBe(1);
		expect(accepted.socket.remotePort).toBe(client.localPort);
		let isClosed = false;
		server.close(() => {
			isClosed = true;
		});
		await new Promise((resolve) => setTimeout(resolve, 20));
		expect(isClosed).toBe(false);
		accepted.socket.resume();
		client.end();
		await until(() => isClosed);
		expect(await connectionsOf(server)).toBe(0);
	});

	test.each([true, false])('with allowHalfOpen %s it behaves like any other when the client ends', async (allowHalfOpen) => {
		const { client, accepted } = await open({ allowHalfOpen });
		const heard: string[] = [];
		client.on('data', (piece) => heard.push(String(piece)));
		const ended = once(accepted.socket, 'end');
		client.end('question');
		accepted.socket.resume();
		await ended;
		await new Promise((resolve) => setTimeout(resolve, 20));
		expect(accepted.socket.writable).toBe(allowHalfOpen);
		if (allowHalfOpen) accepted.socket.end('answer');
		await until(() => client.closed);
		expect(heard.join('')).toBe(allowHalfOpen ? 'answer' : '');
	});

	test('reports that the client has reset it', async () => {
		const { client, accepted } = await open();
		const failed = once(accepted.socket, 'error');
		accepted.socket.resume();
		client.resetAndDestroy();
		expect(((await failed) as [NodeJS.ErrnoException])[0].code).toBe('ECONNRESET');
	});
});

test('a connection with TLS stays unchanged', async () => {
	const folder = join(import.meta.dirname, '../../../test/fixtures/tls');
	const material = { cert: readFileSync(join(folder, 'certificate.pem')), key: readFileSync(join(folder, 'key.pem')) };
	const server = createTlsServer(material);
	const port = await listen(server);
	const client = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
	const [socket] = (await once(server, 'secureConnection')) as [Socket];
	onTestFinished(() => {
		client.destroy();
		server.close();
	});
	expect(adoptSocketWithSharedBuffer(socket)).toEqual({ socket, reads: undefined });
	const heard = once(socket, 'data');
	client.write('hello');
	expect(String((await heard)[0])).toBe('hello');
});

test('a socket that is no longer open stays unchanged', () => {
	const socket = new Socket();
	expect(adoptSocketWithSharedBuffer(socket).socket).toBe(socket);
});
