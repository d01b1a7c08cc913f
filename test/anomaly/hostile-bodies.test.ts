/** Bodies that try to fill the memory. The provider runs in the test process. */
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { type Deployment, requestStatus, startDeployment, client as usual } from '../support/deployment.ts';
import { megabyte, watchMemory } from '../support/process-memory.ts';
import { eventually, fetchAccessToken, freePort } from '../support/product.ts';
import { RawClient } from '../support/raw-client.ts';

const httpResponse = JSON.stringify({
	id: 'chatcmpl-1',
	object: 'chat.completion',
	created: 1,
	model: 'x',
	choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
	usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

interface Site {
	readonly product: Deployment;
	readonly token: string;
	/** Token of another client, which is another team. */
	readonly otherToken: string;
	/** Number of requests that reached the provider. */
	calls(): number;
	/** Bytes of buffered bodies by the product's metrics. */
	heldBytes(): Promise<number>;
}

async function startSite(gateway: object): Promise<Site> {
	let calls = 0;
	const provider = createServer((incoming, response) => {
		incoming.resume().on('end', () => {
			calls++;
			response.writeHead(200, { 'content-type': 'application/json' }).end(httpResponse);
		});
	});
	await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
	onTestFinished(() => {
		provider.closeAllConnections();
		provider.close();
	});
	const base_url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
	const metricsListen = `127.0.0.1:${await freePort()}`;
	const other = { id: 'other', secret: 'secret-of-the-other-0123456789' };
	const product = await startDeployment({
		gateway,
		identity: { clients: [usual, other].map((one) => ({ ...one, scopes: ['invoke'] })) },
		metrics: { listen: metricsListen },
		providers: { sink: { kind: 'openai', base_url, api_key: 'k', allow_private_network: true } },
	});
	return {
		product,
		token: await product.accessToken(),
		otherToken: await fetchAccessToken(`${product.identityUrl}/oauth2/token`, other),
		calls: () => calls,
		async heldBytes() {
			const text = await (await fetch(`http://${metricsListen}/metrics`)).text();
			return Number(/^tollgate_request_body_memory_bytes (\d+)$/m.exec(text)?.[1]);
		},
	};
}

/** Sends pieces until they end or a response arrives. @returns the status, and the number of bytes sent by then. */
function upload(
	{ product, token }: Pick<Site, 'product' | 'token'>,
	pieces: Iterable<Buffer>,
	headers: Record<string, string | number> = {},
): Promise<{ status: number; sentBytes: number; incoming: IncomingMessage }> {
	return new Promise((resolve, reject) => {
		const call = request(`${product.gatewayUrl}/v1/chat/completions`, {
			method: 'POST',
			agent: false,
			headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
		});
		let sentBytes = 0;
		let hasResponse = false;
		const iterator = pieces[Symbol.iterator]();
		const fill = (): void => {
			while (!hasResponse) {
				const next = iterator.next();
				if (next.done === true) {
					call.end();
					return;
				}
				sentBytes += next.value.length;
				if (!call.write(next.value)) {
					call.once('drain', fill);
					return;
				}
			}
		};
		call.on('response', (incoming) => {
			hasResponse = true;
			incoming.resume();
			resolve({ status: incoming.statusCode ?? 0, sentBytes, incoming });
		});
		call.on('error', (error) => (hasResponse ? undefined : reject(error)));
		fill();
	});
}

const start = '{"model":"sink/x","messages":[{"role":"user","content":"';

function* times(count: number, piece: Buffer): Generator<Buffer> {
	for (let index = 0; index < count; index++) yield piece;
}

test('at the cap, over it, without a length, compressed, in a million pieces: the right status, memory within four caps', async () => {
	const cap = 33_554_432;
	const site = await startSite({});
	const { product, token } = site;
	for (let index = 0; index < 50; index++) expect(await requestStatus(product.gatewayUrl, token)).toBe(200);
	const memory = watchMemory(product.pid);
	const statusOf = async (body: Buffer | string, headers: Record<string, string | number> = {}): Promise<number> => {
		const bytes = Buffer.from(body);
		const before = site.calls();
		const { status } = await upload(site, [bytes], { 'content-length': bytes.length, ...headers });
		expect(site.calls() - before, `calls to the provider for a ${status}`).toBe(status === 200 ? 1 : 0);
		return status;
	};
	const whole = (bytes: number): string => `${start}${'a'.repeat(bytes - start.length - 4)}"}]}`;
	expect(await statusOf(whole(cap))).toBe(200);
	expect(await statusOf(whole(cap + 1))).toBe(413);

	const endless = await upload(site, times(3200, Buffer.alloc(megabyte, 'a')), { 'transfer-encoding': 'chunked' });
	expect(endless.status).toBe(413);
	expect(endless.sentBytes, 'it was read on and on').toBeLessThan(3 * cap);

	const bomb = (bytes: number): Promise<number> => statusOf(gzipSync(whole(bytes)), { 'content-encoding': 'gzip' });
	expect(gzipSync(whole(cap)).length).toBeLessThan(50_000);
	expect(await bomb(cap)).toBe(200);
	expect(await bomb(cap + 1)).toBe(413);
	expect(await bomb(10 * cap)).toBe(413);

	// Bodies with too many values are rejected before they are parsed into objects; the maximum is accepted.
	const many = (count: number): Record<string, string> => ({
		keys: `${start}"}],${Array.from({ length: count }, (_, index) => `"k${index}":0`).join()}}`,
		messages: `{"model":"sink/x","messages":[${Array.from({ length: count }, () => '{"role":"user","content":""}').join()}]}`,
		parts: `${start.slice(0, -1)}[${Array.from({ length: count }, () => '{"type":"text","text":""}').join()}]}]}`,
	});
	for (const [kind, body] of Object.entries(many(1_000_000))) expect([kind, await statusOf(body)]).toEqual([kind, 413]);
	for (const [kind, body] of Object.entries(many(50_000))) expect([kind, await statusOf(body)]).toEqual([kind, 200]);

	memory.stop();
	expect(memory.peakGrowth).toBeLessThan(4 * cap + 64 * megabyte);
	expect(await requestStatus(product.gatewayUrl, token)).toBe(200);
	expect(product.log.filter((line) => line['level'] === 'error')).toEqual([]);
}, 60_000);

test('bodies of all requests share a memory budget: beyond it 503 before they are read, except for small ones', async () => {
	const site = await startSite({ max_body_bytes: 4_000_000, max_buffered_request_bytes: 8_000_000 });
	const { product, token } = site;
	const port = Number(new URL(product.gatewayUrl).port);
	const head = (framing: string): string =>
		`POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`;
	const open = (framing: string): RawClient => {
		const client = new RawClient(port);
		onTestFinished(() => client.destroy());
		return client.send(head(framing));
	};
	const untilBuffered = (bytes: number): Promise<true> =>
		eventually(`${bytes} bytes are reserved`, async () => ((await site.heldBytes()) === bytes ? true : undefined));

	const waiting = open('Content-Length: 4000000').send('{');
	await untilBuffered(4_000_000);
	const late = await open('Content-Length: 2000001').untilReceived('\r\n\r\n');
	expect(late.statuses).toEqual([503]);
	expect(late.text).toMatch(/^retry-after: \d+\r$/im);
	expect(late.text).toContain('"overloaded"');
	// Two megabytes are free, but a client that already uses more than that gets none of them.
	expect((await open('Content-Length: 1000001').untilReceived('\r\n\r\n')).statuses).toEqual([503]);
	const middling = Buffer.from(`${start}${'a'.repeat(1_000_000)}"}]}`);
	const others = { product, token: site.otherToken };
	expect((await upload(others, [middling], { 'content-length': middling.length })).status).toBe(200);
	const small = Buffer.from(`${start}hi"}]}`);
	for (let index = 0; index < 5; index++) expect((await upload(site, [small])).status).toBe(200);

	// A body of unknown length is rejected when it exceeds the limit.
	const growing = open('Transfer-Encoding: chunked');
	const chunk = Buffer.alloc(100_000, 'a');
	for (let index = 0; index < 21; index++) {
		growing
			.send(`${chunk.length.toString(16)}\r\n`)
			.send(chunk)
			.send('\r\n');
	}
	await growing.untilReceived('503');
	await untilBuffered(4_000_000);

	// Rejected requests and disconnected clients release their memory.
	expect((await upload(site, [Buffer.from('{"model":')])).status).toBe(400);
	expect((await upload(site, [Buffer.from('{"model":"nobody/x","messages":[]}')])).status).toBe(400);
	waiting.destroy();
	await untilBuffered(0);
	const large = Buffer.from(`${start}${'a'.repeat(3_900_000)}"}]}`);
	expect((await upload(site, [large], { 'content-length': large.length })).status).toBe(200);
	await untilBuffered(0);
	expect(product.log.filter((line) => line['level'] === 'error')).toEqual([]);
}, 30_000);
