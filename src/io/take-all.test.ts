/** Bodies that have already arrived are available at once, in requests and in responses. */
import { describe, expect, test } from 'vitest';
import type { RawClient } from '../../test/support/raw-client.ts';
import { connectRaw, serve } from '../../test/support/raw-http-server.ts';
import { until } from '../../test/support/until.ts';
import { chunkedHead, request, responseBytes, responses, startClient, startServer } from '../../test/support/upstream-under-test.ts';
import { readAll, takeAll } from '../core/byte-stream.ts';
import type { ByteStream, Handler } from '../core/handler.ts';

/** Connects a client whose responses are the results of `read` for the request bodies. */
async function connect(read: (body: ByteStream) => Promise<string>): Promise<RawClient> {
	const handler: Handler = async ({ body }) => ({ status: 200, headers: {}, body: await read(body) });
	return connectRaw(await serve(handler));
}

const taken = async (body: ByteStream): Promise<string> => String(takeAll(body, 1000));
const head = (length: number): string => `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`;

describe('the body of a request', () => {
	test('that arrived with its head is available at once, and the connection stays open', async () => {
		const client = await connect(taken);
		client.send(`${head(5)}hello${head(5)}world`);
		await until(() => client.text.includes('world'));
		expect(client.text).toContain('\r\n\r\nhello');
		client.send(`${head(5)}again`);
		await until(() => client.text.includes('again'));
		expect(client.statuses).toEqual([200, 200, 200]);
	});

	test('that has not arrived completely is not available', async () => {
		let isRequested = false;
		const client = await connect(async (body) => {
			const first = await taken(body);
			isRequested = true;
			return `${first} ${(await readAll(body, 1000)).toString()}`;
		});
		client.send(`${head(10)}hello`);
		await until(() => isRequested);
		client.send('world');
		await until(() => client.text.includes('helloworld'));
		expect(client.text).toContain('undefined helloworld');
	});

	test('that is too long is rejected', async () => {
		const client = await connect(async (body) => String(takeAll(body, 4)));
		client.send(`${head(5)}hello`);
		await until(() => client.statuses.length === 1);
		expect(client.statuses).toEqual([413]);
	});

	test('is returned once', async () => {
		const client = await connect(async (body) => {
			const first = await taken(body);
			expect(() => body.start({ write: () => true, end: () => undefined, fail: () => undefined })).toThrow('only once');
			return `${first} ${await taken(body)}`;
		});
		client.send(`${head(5)}hello`);
		await until(() => client.text.includes('hello'));
		expect(client.text).toContain('hello undefined');
	});

	test('that node:http has read is awaited', async () => {
		const client = await connect(async (body) => `${await taken(body)} ${(await readAll(body, 1000)).toString()}`);
		client.send('PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello');
		await until(() => client.text.includes('hello'));
		expect(client.text).toContain('undefined hello');
	});
});

describe('the body of a response', () => {
	test('that arrived with its head is available at once, and only once', async () => {
		const { body } = await startClient().send(request(await startServer(responses(responseBytes('hello')))));
		expect(takeAll(body, 1000)?.toString()).toBe('hello');
		expect(takeAll(body, 1000)).toBeUndefined();
		expect(() => body.start({ write: () => true, end: () => undefined, fail: () => undefined })).toThrow('only once');
	});

	test('that arrived in chunks is complete', async () => {
		const server = await startServer(responses(`${chunkedHead}5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n`));
		const { body } = await startClient().send(request(server));
		expect(takeAll(body, 1000)?.toString()).toBe('hello!');
	});

	test.each([
		['has not come whole', `${chunkedHead}5\r\nhello\r\n`],
		['has failed', `${chunkedHead}5\r\nhello\r\nzzz\r\n`],
	])('that %s is not available', async (_what, bytes) => {
		const { body } = await startClient().send(request(await startServer(responses(bytes))));
		expect(takeAll(body, 1000)).toBeUndefined();
	});
});
