import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import Anthropic0 from '@anthropic-ai/sdk-0';
import OpenAI from 'openai';
import OpenAI6 from 'openai-6';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AccessTokenError, type AccessTokenSource, type AccessTokenSourceOptions, createAccessTokenSource } from './index.ts';

const secret = 's3cr3t+canary/with spaces&=%';

/** A token endpoint with a request counter, and a gateway that knows the valid access tokens. */
let server: Server;
let address: string;
let issuedCount: number;
let accepted: Set<string>;
let expiresIn: unknown;
/** Replaces the token endpoint's successful response. */
let tokenFailure: Respond | undefined;
let calls: { headers: IncomingMessage['headers']; body: string; status: number }[];
let clockMs: number;

const chatResponse = {
	id: 'chatcmpl-1',
	object: 'chat.completion',
	created: 1,
	model: 'm',
	choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
	usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};
const messagesResponse = {
	id: 'msg_1',
	type: 'message',
	role: 'assistant',
	model: 'm',
	content: [{ type: 'text', text: 'hello' }],
	stop_reason: 'end_turn',
	stop_sequence: null,
	usage: { input_tokens: 1, output_tokens: 1 },
};

function respondToTokenRequest(response: ServerResponse): void {
	issuedCount += 1;
	if (tokenFailure !== undefined) {
		tokenFailure(response);
		return;
	}
	const accessToken = `token-${issuedCount}`;
	accepted.add(accessToken);
	response.setHeader('content-type', 'application/json').end(JSON.stringify({ access_token: accessToken, expires_in: expiresIn }));
}

function respondToCall(request: IncomingMessage, body: string, response: ServerResponse): void {
	const isAccepted = accepted.has(request.headers.authorization?.slice('Bearer '.length) ?? '');
	calls.push({ headers: request.headers, body, status: isAccepted ? 200 : 401 });
	if (!isAccepted) {
		response.writeHead(401, { 'content-type': 'text/html' }).end('<h1>401</h1>');
		return;
	}
	const completion = request.url === '/v1/messages' ? messagesResponse : chatResponse;
	response.setHeader('content-type', 'application/json').end(JSON.stringify(completion));
}

beforeAll(async () => {
	server = createServer((request, response) => {
		let body = '';
		request.setEncoding('utf8').on('data', (text: string) => (body += text));
		request.on('end', () => (request.url === '/oauth2/token' ? respondToTokenRequest(response) : respondToCall(request, body, response)));
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
	server.closeAllConnections();
	server.close();
});
beforeEach(() => {
	issuedCount = 0;
	accepted = new Set();
	expiresIn = 3600;
	tokenFailure = undefined;
	calls = [];
	clockMs = 1_800_000_000_000;
});

function createSource(more: Partial<AccessTokenSourceOptions> = {}): AccessTokenSource {
	return createAccessTokenSource({
		tokenEndpoint: `${address}/oauth2/token`,
		clientId: 'agent',
		clientSecret: secret,
		nowMs: () => clockMs,
		...more,
	});
}

type Respond = (response: ServerResponse) => void;

function httpResponse(body: string | Buffer, status = 200, headers: Record<string, string> = {}): Respond {
	return (response) => {
		response.writeHead(status, headers).end(body);
	};
}

const json = (value: unknown, status = 200): Respond => httpResponse(JSON.stringify(value), status);
const hangUp: Respond = (response) => {
	response.destroy();
};

const chat = { model: 'm', messages: [{ role: 'user' as const, content: 'hi' }] };
const message = { ...chat, max_tokens: 10 };

/** One request through each official SDK, written as in the guide. */
const sdks: Record<string, (source: AccessTokenSource) => () => Promise<unknown>> = {
	'openai 7': (source) => {
		const client = new OpenAI({ baseURL: `${address}/v1`, apiKey: source.accessToken, fetch: source.fetch });
		return () => client.chat.completions.create(chat);
	},
	'openai 6': (source) => {
		const client = new OpenAI6({ baseURL: `${address}/v1`, apiKey: source.accessToken, fetch: source.fetch });
		return () => client.chat.completions.create(chat);
	},
	'@anthropic-ai/sdk 1': (source) => {
		const client = new Anthropic({ baseURL: address, apiKey: source.accessToken, fetch: source.fetch });
		return () => client.messages.create(message);
	},
	'@anthropic-ai/sdk 0': (source) => {
		const client = new Anthropic0({ baseURL: address, apiKey: null, authToken: 'set by fetch', fetch: source.fetch });
		return () => client.messages.create(message);
	},
};

describe.each(Object.entries(sdks))('with %s', (_name, connect) => {
	it('sends one request for 50 concurrent calls', async () => {
		const call = connect(createSource());
		await Promise.all(Array.from({ length: 50 }, call));
		await call();
		expect(issuedCount).toBe(1);
		expect(calls.map(({ status }) => status)).toEqual(Array.from({ length: 51 }, () => 200));
		expect(new Set(calls.map(({ headers }) => headers.authorization))).toEqual(new Set(['Bearer token-1']));
	});

	it('requests a new token at 3000 s and not before', async () => {
		const call = connect(createSource());
		await call();
		clockMs += 2_999_999;
		await call();
		expect(issuedCount).toBe(1);
		clockMs += 1;
		await call();
		expect(calls.map(({ headers }) => headers.authorization)).toEqual(['Bearer token-1', 'Bearer token-1', 'Bearer token-2']);
	});

	it('fetches one new token on a 401, however many requests get it, and repeats them completely', async () => {
		const call = connect(createSource());
		await call();
		accepted.clear();
		calls = [];
		await Promise.all(Array.from({ length: 50 }, call));
		expect(issuedCount).toBe(2);
		const repeated = calls.filter(({ status }) => status === 200);
		expect(repeated).toHaveLength(50);
		for (const { body } of repeated) expect(JSON.parse(body)).toMatchObject(chat);
	});

	it('gives up after the second 401', async () => {
		const call = connect(createSource());
		tokenFailure = json({ access_token: 'not-accepted' });
		await expect(call()).rejects.toMatchObject({ status: 401 });
		expect(calls).toHaveLength(2);
		expect(issuedCount).toBe(2);
	});
});

it('gives apiKey functions the token without the fetch wrapper', async () => {
	const source = createSource();
	await new OpenAI({ baseURL: `${address}/v1`, apiKey: source.accessToken }).chat.completions.create(chat);
	await new Anthropic({ baseURL: address, apiKey: source.accessToken }).messages.create(message);
	expect(calls.map(({ status }) => status)).toEqual([200, 200]);
});

describe('accessToken', () => {
	it('sends the credentials in the form, with the scope when there is one', async () => {
		const bodies: string[] = [];
		const fetch: typeof globalThis.fetch = (input, init) => {
			bodies.push(typeof init?.body === 'string' ? init.body : '');
			return globalThis.fetch(input, init);
		};
		await createSource({ fetch }).accessToken();
		await createSource({ fetch, scope: 'tollgate/invoke tollgate/admin' }).accessToken();
		const credentials = { grant_type: 'client_credentials', client_id: 'agent', client_secret: secret };
		expect(bodies.map((body) => Object.fromEntries(new URLSearchParams(body)))).toEqual([
			credentials,
			{ ...credentials, scope: 'tollgate/invoke tollgate/admin' },
		]);
	});

	it('refreshes a token with a shorter lifetime at the same fraction of it', async () => {
		const source = createSource();
		expiresIn = 600;
		await source.accessToken();
		clockMs += 499_000;
		await source.accessToken();
		expect(issuedCount).toBe(1);
		clockMs += 1000;
		await source.accessToken();
		expect(issuedCount).toBe(2);
	});

	it.each([undefined, 'soon', -1, null])('stays at 3000 s if expires_in is %j', async (value) => {
		const source = createSource();
		expiresIn = value;
		await source.accessToken();
		clockMs += 2_999_999;
		expect(await source.accessToken()).toBe('token-1');
		clockMs += 1;
		expect(await source.accessToken()).toBe('token-2');
	});

	it('takes another age for the refresh', async () => {
		const source = createSource({ refreshAfterSeconds: 10 });
		await source.accessToken();
		clockMs += 10_000;
		expect(await source.accessToken()).toBe('token-2');
	});

	it('shares a failure among concurrent calls, and sends a new request afterwards', async () => {
		const source = createSource();
		tokenFailure = json({ error: 'server_error' }, 500);
		const outcomes = await Promise.allSettled(Array.from({ length: 50 }, source.accessToken));
		expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['rejected']));
		expect(issuedCount).toBe(1);
		tokenFailure = undefined;
		expect(await source.accessToken()).toBe('token-2');
	});

	it('uses the old token while it is valid if a refresh fails, and does not retry on every call', async () => {
		const source = createSource();
		await source.accessToken();
		tokenFailure = hangUp;
		clockMs += 3_000_000;
		expect(await source.accessToken()).toBe('token-1');
		expect(await source.accessToken()).toBe('token-1');
		expect(issuedCount).toBe(2);
		clockMs += 10_000;
		expect(await source.accessToken()).toBe('token-1');
		expect(issuedCount).toBe(3);
		clockMs += 585_000;
		expect(await source.accessToken()).toBe('token-1');
		clockMs += 5000;
		await expect(source.accessToken()).rejects.toMatchObject({ code: 'unreachable' });
	});

	it('sends a new request after invalidate', async () => {
		const source = createSource();
		await source.accessToken();
		source.invalidate();
		tokenFailure = json({}, 500);
		await expect(source.accessToken()).rejects.toMatchObject({ status: 500 });
		tokenFailure = undefined;
		expect(await source.accessToken()).toBe('token-3');
	});
});

describe('errors', () => {
	it.each([
		['rejected', 500, json({}, 500)],
		['invalid_client', 401, json({ error: 'invalid_client', error_description: secret }, 401)],
		['invalid_scope', 400, json({ error: 'invalid_scope' }, 400)],
		['rejected', 400, json({ error: secret }, 400)],
		['rejected', 302, httpResponse('', 302, { location: '/v1/messages' })],
		['rejected', 503, httpResponse(Buffer.alloc(2_000_000, 'x'), 503)],
		['invalid_response', 200, httpResponse('<html>')],
		['invalid_response', 200, json({ access_token: 'a\nb' })],
		['invalid_response', 200, httpResponse(Buffer.alloc(1_048_577, ' '))],
		['unreachable', undefined, hangUp],
	])('%s with status %s, without secrets', async (code, status, failure) => {
		tokenFailure = failure;
		const error: unknown = await createSource()
			.accessToken()
			.catch((reason: unknown) => reason);
		expect(error).toBeInstanceOf(AccessTokenError);
		expect(error).toMatchObject({ code, status });
		expect(`${String(error)} ${JSON.stringify(error)} ${String((error as Error).cause)}`).not.toContain(secret);
		expect(calls).toHaveLength(0);
	});

	it('only the status, if the address is no token endpoint', async () => {
		tokenFailure = httpResponse('<!doctype html>', 404);
		await expect(createSource().accessToken()).rejects.toMatchObject({
			code: 'rejected',
			message: expect.stringContaining(`HTTP 404 at ${address}/oauth2/token: is this the token endpoint?`) as unknown,
		});
	});

	it('timeout if the endpoint does not respond', async () => {
		tokenFailure = () => undefined;
		await expect(createSource({ timeoutSeconds: 0.02 }).accessToken()).rejects.toMatchObject({ code: 'timeout', status: undefined });
	});

	it.each([
		{ tokenEndpoint: 'nowhere' },
		{ tokenEndpoint: 'ftp://127.0.0.1/' },
		{ tokenEndpoint: undefined },
		{ clientId: '' },
		{ clientSecret: undefined },
	])('%j is rejected immediately', (options) => {
		expect(() => createSource(options)).toThrow(TypeError);
	});
});

describe('fetch', () => {
	it('replaces the credentials of the request and keeps the rest', async () => {
		const { accessToken, fetch } = createSource();
		// Its number depends on requests of earlier tests that arrive late.
		const authorization = `Bearer ${await accessToken()}`;
		await fetch(`${address}/v1/messages`, {
			method: 'POST',
			headers: { 'x-api-key': 'vendor', authorization: 'Bearer x', 'x-kept': '1' },
			body: '{}',
		});
		await fetch(new Request(`${address}/v1/messages`, { headers: { 'x-kept': '2', 'x-api-key': 'vendor' } }));
		expect(calls.map(({ headers }) => [headers.authorization, headers['x-api-key'], headers['x-kept']])).toEqual([
			[authorization, undefined, '1'],
			[authorization, undefined, '2'],
		]);
	});

	it.each([
		['text', () => 'abc'],
		['bytes', () => new TextEncoder().encode('abc')],
		['a blob', () => new Blob(['abc'])],
		['a form', () => new URLSearchParams('abc')],
	])('repeats a request whose body is %s', async (_name, body) => {
		const source = createSource();
		await source.accessToken();
		accepted.clear();
		const response = await source.fetch(address, { method: 'POST', body: body() });
		expect(response.status).toBe(200);
		expect(calls.map((call) => call.body.replace('=', ''))).toEqual(['abc', 'abc']);
	});

	it('does not repeat a stream, but fetches a new token for the next request', async () => {
		const source = createSource();
		await source.accessToken();
		accepted.clear();
		const body = new Blob(['abc']).stream();
		const init: RequestInit = { method: 'POST', body, duplex: 'half' };
		const response = await source.fetch(address, init);
		expect(response.status).toBe(401);
		expect(await response.text()).toContain('401');
		expect((await source.fetch(address)).status).toBe(200);
		expect(issuedCount).toBe(2);
	});

	it('keeps the new token after a late 401 for the old one', async () => {
		const unfinished = Promise.withResolvers<void>();
		const source = createSource({
			fetch: async (input, init) => {
				const response = await globalThis.fetch(input, init);
				if (input === `${address}/slow` && response.status === 401) await unfinished.promise;
				return response;
			},
		});
		await source.accessToken();
		accepted.clear();
		const late = source.fetch(`${address}/slow`);
		expect((await source.fetch(address)).status).toBe(200);
		unfinished.resolve();
		expect((await late).status).toBe(200);
		expect(issuedCount).toBe(2);
	});

	it('passes any other status', async () => {
		const fetch: typeof globalThis.fetch = (input, init) =>
			input instanceof URL && input.pathname === '/oauth2/token'
				? globalThis.fetch(input, init)
				: Promise.resolve(new Response('no', { status: 403 }));
		expect((await createSource({ fetch }).fetch(address)).status).toBe(403);
		expect(issuedCount).toBe(1);
	});
});
