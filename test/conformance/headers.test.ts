/** Header fields: which of a client's reach providers, and which of a provider's account reach clients. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.ts';
import { describeOwn, send, useSubject } from './subject.ts';

const routes = [
	{ path: '/v1/chat/completions', model: 'watched-openai/gpt-4o', credential: 'authorization: Bearer key-of-openai' },
	{ path: '/v1/messages', model: 'watched-anthropic/claude-haiku-4-5', credential: 'x-api-key: key-of-anthropic' },
] as const;

/** Account details of a provider in its response headers. */
const accountHeaders: Readonly<Record<string, string>> = {
	'openai-organization': 'org-secret',
	'openai-project': 'proj_secret',
	'openai-processing-ms': '12',
	'anthropic-organization-id': 'org-secret',
	'anthropic-ratelimit-requests-limit': '4000',
	'anthropic-ratelimit-tokens-remaining': '399000',
	'anthropic-ratelimit-input-tokens-remaining': '31337',
	'anthropic-ratelimit-unified-status': 'secret',
	'x-ratelimit-remaining-project-tokens': '31337',
	'x-ratelimit-limit-requests': '31337',
	'x-ratelimit-remaining-tokens': '31337',
	'set-cookie': '__cf_bm=secret; path=/',
	'cf-ray': 'secret-FRA',
	'cf-cache-status': 'DYNAMIC',
	'x-ms-region': 'Secret Region',
	'x-ms-deployment-name': 'secret-deployment',
	'retry-after': '7',
	server: 'cloudflare-secret',
	via: '1.1 secret',
	'strict-transport-security': 'max-age=1',
	'access-control-allow-origin': '*',
};

/** Header fields that no provider may receive, whatever a client sends. */
const privateHeaders: Readonly<Record<string, string>> = {
	cookie: 'session=private',
	'x-api-key': 'private',
	'api-key': 'private',
	'x-goog-api-key': 'private',
	'proxy-authorization': 'Basic private',
	'x-forwarded-for': '203.0.113.77',
	'x-forwarded-host': 'private.example',
	'x-forwarded-proto': 'https',
	forwarded: 'for=203.0.113.77',
	'x-real-ip': '203.0.113.77',
	via: '1.1 private',
	'x-gateway-provider': 'provider_b',
	'openai-organization': 'org-private',
	'x-stainless-lang': 'private',
	'user-agent': 'private/1.0',
	referer: 'https://private.example/',
	origin: 'https://private.example',
	'x-portkey-custom-host': 'http://203.0.113.77',
	'x-custom-host': 'http://203.0.113.77',
	traceparent: '00-private-private-01',
};

describeOwn('headers are built from an allow-list', 'a configuration of its own', () => {
	let upstream: ScriptedServer;
	let head = '';
	beforeAll(async () => {
		upstream = await startScriptedServer((connection) => {
			const [received = '', body = ''] = connection.received.split(/\r\n\r\n(.*)/s);
			if (body.length < Number(/content-length: (\d+)/i.exec(received)?.[1] ?? '0')) return;
			head = received;
			connection.received = '';
			const fields = Object.entries(accountHeaders).map(([name, value]) => `${name}: ${value}\r\n`);
			connection.send(
				`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-request-id: upstream-1\r\n${fields.join('')}content-length: 2\r\n\r\n{}`,
			);
		});
	});
	afterAll(() => upstream.close());
	beforeEach(() => {
		head = '';
	});

	const subject = useSubject(() => ({
		routing: { provider_header: 'optional' },
		providers: {
			'watched-openai': { kind: 'openai', base_url: `${upstream.origin}/base/v1`, api_key: 'key-of-openai', allow_private_network: true },
			'watched-anthropic': {
				kind: 'anthropic',
				base_url: `${upstream.origin}/base`,
				api_key: 'key-of-anthropic',
				allow_private_network: true,
			},
		},
	}));

	const ask = (path: string, model: string, headers: Record<string, string | null> = {}): Promise<Response> =>
		send(subject.current, path, { headers, body: { model, max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] } });

	describe.each(routes)('$path', ({ path, model, credential }) => {
		it('no private header field of the client reaches the provider', async () => {
			const accessToken = await subject.current.accessToken();
			// Omits the header: the prefix selects the provider only if the header names no known one.
			const { 'x-gateway-provider': _, ...headers } = privateHeaders;
			expect((await ask(path, model, headers)).status).toBe(200);
			const lines = head.split('\r\n').slice(1);
			expect(lines.filter((line) => line.toLowerCase().startsWith(`${credential.split(':')[0]}:`))).toEqual([credential]);
			expect(head).not.toContain(accessToken.slice(-20));
			expect(head).not.toMatch(/private|203\.0\.113/i);
			const names = lines.map((line) => line.split(':')[0] ?? '').toSorted();
			const own = [
				'accept',
				'accept-encoding',
				'connection',
				'content-length',
				'content-type',
				'host',
				'user-agent',
				credential.split(':')[0] ?? '',
			];
			expect(names).toEqual((path === '/v1/messages' ? [...own, 'anthropic-version'] : own).toSorted());
			expect(head).toContain('accept-encoding: identity');
			expect(head).toContain(`host: 127.0.0.1:${upstream.port}`);
		});

		it('the provider header does not arrive', async () => {
			const [provider = '', name = ''] = model.split('/');
			expect((await ask(path, name, { 'x-gateway-provider': provider })).status).toBe(200);
			expect(head).not.toMatch(/x-gateway/i);
		});

		it('the query string arrives, and no more of the address', async () => {
			await ask(`${path}?beta=true&api_base=http://other.example`, model);
			expect(head.split('\r\n')[0]).toBe(`POST /base${path}?beta=true&api_base=http://other.example HTTP/1.1`);
		});

		it('nothing of the provider’s account leaves', async () => {
			const response = await ask(path, model);
			const shown = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n');
			expect(shown).not.toMatch(/secret|31337|4000|399000|cloudflare|unified|project|input-tokens/i);
			const names = [...response.headers.keys()];
			expect(names.filter((name) => name in accountHeaders && !name.includes('ratelimit-'))).toEqual([]);
			expect(response.headers.get('x-gateway-upstream-request-id')).toBe('upstream-1');
			expect(response.headers.get('x-request-id')).toMatch(/^req_/);
		});
	});

	it.each([
		[{}, '2023-06-01'],
		[{ 'anthropic-version': '2026-10-21' }, '2026-10-21'],
		[{ 'provider-a-version': '2026-10-21' }, '2026-10-21'],
		[{ 'provider-a-version': '2023-06-01', 'anthropic-version': '2026-10-21' }, '2023-06-01'],
	])('Spec: Versioning, 2: %j is asked of provider_a as version %s', async (headers: Record<string, string>, version) => {
		await ask('/v1/messages', 'watched-anthropic/claude-haiku-4-5', headers);
		expect(head).toContain(`\r\nanthropic-version: ${version}\r\n`);
		expect(head).not.toContain('provider-a-version');
	});

	it('anthropic-beta arrives unchanged', async () => {
		const betas = 'interleaved-thinking-2025-05-14,context-management-2025-06-27, no-such-beta';
		await ask('/v1/messages', 'watched-anthropic/claude-haiku-4-5', { 'anthropic-beta': betas });
		expect(head).toContain(`\r\nanthropic-beta: ${betas}\r\n`);
	});
});
