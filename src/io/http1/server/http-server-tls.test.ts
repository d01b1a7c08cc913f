import { request } from 'node:https';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { createCertificate } from '../../../../test/support/certificates.ts';
import { type StartedHttpServer, startHttpServer } from '../../../../test/support/start-http-server.ts';
import { until } from '../../../../test/support/until.ts';
import { readAll, streamOf } from '../../../core/byte-stream.ts';
import { ConnectionReset, type Handler } from '../../../core/handler.ts';

const [first, second] = [createCertificate('first'), createCertificate('second')];
const started: StartedHttpServer[] = [];
afterEach(() => {
	for (const { server } of started.splice(0)) server.destroy();
});

const echo: Handler = async ({ path, peerAddress }) => {
	if (path === '/reset') throw new ConnectionReset();
	return {
		status: 200,
		headers: { 'x-peer': peerAddress },
		body: path === '/stream' ? streamOf([Buffer.from('a'), Buffer.from('b')]) : 'whole',
	};
};

async function start(handler: Handler = echo): Promise<StartedHttpServer> {
	const one = await startHttpServer(handler, { tls: first, limits: { headersTimeoutMs: 200 } });
	started.push(one);
	return one;
}

/** @returns the body and the subject of the server's certificate. */
function ask(port: number, path: string, ca: string): Promise<{ text: string; peer: unknown; shown: unknown }> {
	return new Promise((resolve, reject) => {
		const requesting = request({ host: '127.0.0.1', port, path, ca, agent: false }, (response) => {
			const socket = response.socket as ReturnType<typeof connectTls>;
			const shown = socket.getPeerCertificate().subject.CN;
			let text = '';
			response.on('data', (chunk: Buffer) => (text += chunk.toString()));
			response.on('end', () => resolve({ text, peer: response.headers['x-peer'], shown }));
			response.on('error', reject);
		});
		requesting.on('error', reject).end();
	});
}

test('complete and streaming responses over TLS; the certificate is renewed while the server runs', async () => {
	const { port, server } = await start();
	expect(await ask(port, '/', first.certificate)).toEqual({ text: 'whole', peer: '127.0.0.1', shown: 'first' });
	expect((await ask(port, '/stream', first.certificate)).text).toBe('ab');
	server.renewTls(second);
	expect((await ask(port, '/', second.certificate)).shown).toBe('second');
	await expect(ask(port, '/', first.certificate)).rejects.toThrow(/certificate/);
	expect(() => server.renewTls({ ...second, privateKey: first.privateKey })).toThrow(/key/);
	expect((await ask(port, '/', second.certificate)).shown, 'the good one stays').toBe('second');
});

test('one connection takes requests of every kind', async () => {
	const { port } = await start(async (requested) => ({ status: 200, headers: {}, body: await readAll(requested.body, 1000) }));
	const socket = connectTls({ host: '127.0.0.1', port, ca: first.certificate, checkServerIdentity: () => undefined });
	onTestFinished(() => void socket.destroy());
	let text = '';
	socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
	const kinds = [
		'Content-Length: 4\r\n\r\none.',
		'Content-Length: 4\r\n\r\ntwo.',
		'Transfer-Encoding: chunked\r\n\r\n6\r\nthree.\r\n0\r\n\r\n',
	];
	for (const [index, kind] of [...kinds, ...kinds].entries()) {
		socket.write(`POST / HTTP/1.1\r\nHost: a\r\n${kind}`);
		await until(() => (text.match(/\r\n\r\n[a-z]+\./g) ?? []).length === index + 1);
	}
	expect(text.match(/[a-z]+\.(?=HTTP|$)/g)).toEqual(['one.', 'two.', 'three.', 'one.', 'two.', 'three.']);
});

test('a response that is cut closes the connection', async () => {
	const { port, requestLines } = await start();
	await expect(ask(port, '/reset', first.certificate)).rejects.toMatchObject({ code: 'ECONNRESET' });
	expect(requestLines()).toHaveLength(1);
});

test('plain HTTP, an old protocol and an endless handshake get no response, and use no resources', async () => {
	const { port, server, requestLines } = await start();
	const closed = (text: string | undefined): Promise<string> =>
		new Promise((resolve) => {
			const socket = connect(port, '127.0.0.1');
			let received = '';
			socket.on('data', (chunk) => (received += chunk.toString('latin1')));
			socket.on('error', () => undefined).on('close', () => resolve(received));
			if (text !== undefined) socket.write(text);
		});
	expect(await closed('GET / HTTP/1.1\r\nHost: x\r\n\r\n')).not.toContain('HTTP/1.1 200');
	expect(await closed(undefined), 'closed after the time for a head').toBe('');
	const old = connectTls({ port, host: '127.0.0.1', maxVersion: 'TLSv1.1', minVersion: 'TLSv1', rejectUnauthorized: false });
	await new Promise((resolve) => old.on('error', resolve));
	expect([server.openConnections, requestLines().length]).toEqual([0, 0]);
});

test('one peer may open a limited number of connections; an exempt one any number', async () => {
	for (const isExempt of [false, true]) {
		const one = await startHttpServer(echo, { limits: { maxConnectionsPerPeer: 3 }, isExemptPeer: () => isExempt });
		started.push(one);
		const sockets = Array.from({ length: 5 }, () => connect(one.port, '127.0.0.1'));
		let ended = 0;
		for (const socket of sockets) socket.on('error', () => undefined).on('close', () => ended++);
		await expect.poll(() => [one.server.openConnections, ended]).toEqual(isExempt ? [5, 0] : [3, 2]);
		sockets[0]?.destroy();
		sockets[1]?.destroy();
		await expect.poll(() => one.server.openConnections).toBe(isExempt ? 3 : 1);
		const again = await fetch(one.origin);
		expect(again.status).toBe(200);
		await again.text();
		for (const socket of sockets) socket.destroy();
	}
});
