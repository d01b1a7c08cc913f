import { describe, expect, it } from 'vitest';
import {
	callerOf,
	chatBody,
	chatPath,
	errorOf,
	GatewayBench,
	HandStream,
	isPage,
	messagesBody,
	messagesPath,
	requestsJson,
	summaryOf,
	testSettings,
	textOf,
} from '../../../test/support/gateway-bench.ts';
import type { HttpResponse } from '../../core/handler.ts';
import { UpstreamError } from '../../core/upstream-error.ts';
import type { GatewayPorts, GatewaySettings } from './gateway-settings.ts';

describe('the client', () => {
	it.each([
		[{ authorization: undefined }, 401, 'Bearer realm="tollgate"', 'token_missing'],
		[{ authorization: 'Basic Zm9v' }, 401, 'Bearer realm="tollgate"', 'token_missing'],
		[{ authorization: 'Bearer ' }, 401, 'Bearer realm="tollgate"', 'token_missing'],
		[{ authorization: 'Bearer bad' }, 401, 'Bearer realm="tollgate", error="invalid_token"', 'token_invalid'],
		[{ authorization: ['Bearer good', 'Bearer good'] }, 401, 'Bearer realm="tollgate", error="invalid_token"', 'token_invalid'],
		[
			{ authorization: 'Bearer unscoped' },
			403,
			'Bearer realm="tollgate", error="insufficient_scope", scope="tollgate/invoke"',
			'scope_missing',
		],
	])('%j gets a page, whatever the path, and its body is not read', async (headers, status, challenge, code) => {
		for (const path of [chatPath, messagesPath, '/v1/models', '/v1/nothing']) {
			const body = new HandStream();
			const response = await new GatewayBench().ask(path, body, { ...headers, ...requestsJson });
			expect(response).toMatchObject({ status, headers: { 'content-type': 'text/html; charset=utf-8', 'www-authenticate': challenge } });
			expect([isPage(response), response.record?.code, body.sink]).toEqual([true, code, undefined]);
		}
	});

	it.each(['x-api-key', 'api-key'])('is identified by %s, which no provider receives', async (name) => {
		for (const path of [chatPath, messagesPath]) {
			const bench = new GatewayBench();
			const body = path === chatPath ? chatBody : messagesBody;
			const response = await bench.ask(path, body, { authorization: undefined, [name]: 'good' });
			expect([response.status, response.record?.clientId]).toEqual([200, 'client-1']);
			expect(Object.values(bench.sent[0]?.headers ?? {})).not.toContain('good');
			const contradicting = { authorization: undefined, 'x-api-key': 'good', 'api-key': 'slow' };
			expect((await bench.ask(path, body, contradicting)).record?.code).toBe('token_invalid');
			expect((await bench.ask(path, body, { authorization: 'Basic Zm9v', [name]: 'good' })).record?.code).toBe('token_missing');
		}
	});

	it('is not identified again after an edge has verified it', async () => {
		const bench = new GatewayBench();
		const response = await bench.ask(chatPath, chatBody, { authorization: undefined }, { caller: callerOf('client-9') });
		expect([response.status, response.record?.clientId, response.record?.team]).toEqual([200, 'client-9', 'client-9']);
	});

	it('is read without verification only behind a trusted edge, and needs the scope there too', async () => {
		const bench = new GatewayBench({ trustEdge: true });
		const bearer = (scope: string) => ({
			authorization: `bearer ${[
				{ alg: 'RS256', kid: 'k' },
				{ client_id: 'anyone', scope, iss: 'i', exp: 1 },
			]
				.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
				.join('.')}.AAAA`,
		});
		expect((await bench.ask(chatPath, chatBody, bearer('tollgate/invoke'))).record?.clientId).toBe('anyone');
		const asApiKey = { authorization: undefined, 'x-api-key': bearer('tollgate/invoke').authorization.slice('bearer '.length) };
		expect((await bench.ask(chatPath, chatBody, asApiKey)).record?.clientId).toBe('anyone');
		expect((await bench.ask(chatPath, chatBody, bearer('tollgate/admin'))).status).toBe(403);
		expect((await bench.ask(chatPath, chatBody, { authorization: 'Bearer good' })).status).toBe(401);
		expect((await bench.ask(chatPath, chatBody, { authorization: undefined })).status).toBe(401);
	});

	it('may take a while to verify', async () => {
		expect((await new GatewayBench().ask(chatPath, chatBody, { authorization: 'BEARER slow' })).record?.clientId).toBe('client-2');
	});

	it('determines the team; an unregistered client is its own team, or rejected', async () => {
		expect((await new GatewayBench().ask(chatPath, chatBody)).record?.team).toBe('team-1');
		expect((await new GatewayBench().ask(chatPath, chatBody, { authorization: 'Bearer slow' })).record?.team).toBe('client-2');
		const strict = new GatewayBench({ unregisteredClients: 'reject' });
		expect(summaryOf(await strict.ask(chatPath, chatBody, { authorization: 'Bearer slow' }))).toBe('403 client_unregistered');
		expect((await strict.ask(chatPath, chatBody)).status).toBe(200);
	});

	it('is rejected if its id is that of a team it does not belong to, whose budgets it would spend', async () => {
		const bench = new GatewayBench({}, { verifier: { verify: () => callerOf('client-taken') } });
		expect(summaryOf(await bench.ask(chatPath, chatBody))).toBe('403 client_unregistered');
		expect(bench.sent).toEqual([]);
	});

	it('cannot be verified before the first key set was fetched', async () => {
		const bench = new GatewayBench({}, { verifier: { verify: () => Promise.reject(new UpstreamError('key_set_unavailable')) } });
		const response = await bench.ask(chatPath, chatBody, requestsJson);
		expect([response.status, isPage(response), response.headers['retry-after']]).toEqual([503, true, '5']);
	});
});

describe('the provider header', () => {
	const routing = { providerHeader: 'required', aliases: {}, defaults: {} } as const;

	it('has the exact response of the earlier release if it is missing', async () => {
		const response = await new GatewayBench({ routing }).ask(chatPath, chatBody);
		expect([response.status, textOf(response), response.headers['content-type']]).toEqual([
			400,
			'{"error":"provider is not set"}',
			'application/json',
		]);
	});

	it('decides, and names the known ones when it names an unknown one', async () => {
		const bench = new GatewayBench({ routing });
		expect((await bench.ask(chatPath, chatBody, { 'x-gateway-provider': 'provider_b' })).headers['x-gateway-provider']).toBe('provider_b');
		const unknown = await bench.ask(chatPath, chatBody, { 'x-gateway-provider': 'provider_x' });
		expect(summaryOf(unknown)).toBe('400 provider_unknown');
		expect(errorOf(unknown).error.message).toContain('provider_a, provider_b, provider_c, provider_d');
		expect(bench.sent[0]?.headers).not.toHaveProperty('x-gateway-provider');
	});
});

describe('other paths', () => {
	it('GET /v1/models lists the models that a client may use, for both vendors’ SDKs', async () => {
		const response = await new GatewayBench().ask('/v1/models', '', {}, { method: 'GET' });
		const list = JSON.parse(textOf(response)) as Record<string, unknown>;
		expect(list).toMatchObject({ object: 'list', has_more: false, first_id: 'our-gpt' });
		expect((list.data as unknown[])[1]).toEqual({
			id: 'fast',
			object: 'model',
			created: 0,
			owned_by: 'provider_b',
			type: 'model',
			display_name: 'fast',
			created_at: '1970-01-01T00:00:00Z',
		});
	});

	it('GET /v1/models/{model} returns one of them', async () => {
		const bench = new GatewayBench({ routing: { ...testSettings.routing, aliases: { 'a/b c': 'provider_b/gpt-5' } } });
		const get = (name: string): Promise<HttpResponse> => bench.ask(`/v1/models/${name}`, '', {}, { method: 'GET' });
		for (const [name, id] of [
			['our-gpt', 'our-gpt'],
			['a%2Fb%20c', 'a/b c'],
		] as const) {
			const response = await get(name);
			expect([response.status, JSON.parse(textOf(response))]).toMatchObject([200, { id, object: 'model', type: 'model' }]);
		}
		for (const name of [
			'gpt-5',
			'claude-of-tomorrow',
			'provider_b/any',
			'provider_d/Team',
			'provider_a%2Fclaude-opus-4-5',
			'ft:gpt-4o:us::1',
		]) {
			const response = await get(name);
			expect([name, response.status, JSON.parse(textOf(response))]).toMatchObject([name, 200, { id: decodeURIComponent(name) }]);
		}
		for (const name of ['nonsense', '%', 'our-gpt/x', 'nobody/gpt-5']) expect(summaryOf(await get(name))).toBe('404 model_unlisted');
		expect((await bench.ask('/v1/models/our-gpt', '', {}, { method: 'DELETE' })).headers['allow']).toBe('GET');
	});

	it('GET /v1/models lists the priced models of every provider with a key, by names that select them', async () => {
		const list = async (settings: Partial<GatewaySettings> = {}, rest: Partial<GatewayPorts> = {}): Promise<string[]> => {
			const response = await new GatewayBench(settings, rest).ask('/v1/models', '', {}, { method: 'GET' });
			return (JSON.parse(textOf(response)) as { data: { id: string }[] }).data.map(({ id }) => id);
		};
		const ids = await list();
		expect(new Set(ids).size).toBe(ids.length);
		for (const id of ['claude-opus-4-5', 'gpt-4o', 'gpt-5', 'gemini-2.5-pro', 'our-gpt', 'fast']) expect(ids).toContain(id);
		expect(ids.filter((id) => id.startsWith('provider_d/') || id.startsWith('ft:'))).toEqual([]);
		const keyless = testSettings.providers.map((provider) =>
			provider.name === 'provider_b' ? { ...provider, apiKey: 'REPLACE_ME' } : provider,
		);
		const without = await list({ providers: keyless });
		expect(without.filter((id) => /^(?:fast$|gpt-|o\d|provider_b)/.test(id))).toEqual([]);
		expect(without).toContain('claude-opus-4-5');
		const second = { ...testSettings.providers[0], name: 'second_a' } as (typeof testSettings.providers)[number];
		expect(await list({ providers: [...testSettings.providers, second] })).toContain('second_a/claude-opus-4-5');
		const unpriced = await list({ budgets: { ...testSettings.budgets, unknownPrice: 'reject' } });
		expect([unpriced.includes('our-gpt'), unpriced.includes('fast')]).toEqual([false, true]);
	});

	it('GET /v1/models is Anthropic’s list for a request with its version, in pages', async () => {
		const bench = new GatewayBench();
		const get = async (query: string): Promise<{ data: { id: string }[]; has_more: boolean; last_id: string }> => {
			const requested = { method: 'GET', query };
			return JSON.parse(textOf(await bench.ask('/v1/models', '', { 'anthropic-version': '2023-06-01' }, requested))) as never;
		};
		const whole = await get('limit=1000');
		expect(whole).toEqual({
			data: expect.arrayContaining([
				{ type: 'model', id: 'claude-opus-4-5', display_name: 'claude-opus-4-5', created_at: '1970-01-01T00:00:00Z' },
			]) as unknown,
			has_more: false,
			first_id: 'our-gpt',
			last_id: whole.data.at(-1)?.id,
		});
		const ids: string[] = [];
		for (let query = 'limit=7'; ; ) {
			const page = await get(query);
			ids.push(...page.data.map(({ id }) => id));
			if (!page.has_more) break;
			query = `limit=7&after_id=${encodeURIComponent(page.last_id)}`;
		}
		expect(ids).toEqual(whole.data.map(({ id }) => id));
		expect(await get(`limit=2&before_id=${ids[3]}`)).toMatchObject({ data: [{ id: ids[1] }, { id: ids[2] }], has_more: true });
		expect(await get(`limit=9&before_id=${ids[2]}`)).toMatchObject({ data: [{ id: ids[0] }, { id: ids[1] }], has_more: false });
	});

	it.each(['limit=0', 'limit=1001', 'limit=x', 'after_id=nothing', 'after_id=fast&before_id=fast'])(
		'GET /v1/models?%s is 400',
		async (query) => {
			const response = await new GatewayBench().ask('/v1/models', '', {}, { method: 'GET', query });
			expect(summaryOf(response)).toBe('400 field_invalid');
		},
	);

	it.each(['/', '/healthz'])('GET and HEAD %s respond without a token', async (path) => {
		const bench = new GatewayBench({}, { verifier: { verify: () => Promise.reject(new Error('not asked')) } });
		for (const method of ['GET', 'HEAD']) {
			const response = await bench.ask(path, '', { authorization: undefined }, { method });
			expect([response.status, textOf(response)]).toEqual([200, '{"status":"ok"}']);
		}
	});

	it('GET /readyz names what is missing', async () => {
		const state = { isReady: false, dependencies: { key_set: 'unreachable' } };
		const response = await new GatewayBench({}, { readiness: () => Promise.resolve(state) }).ask(
			'/readyz',
			'',
			{ authorization: undefined },
			{ method: 'GET' },
		);
		expect([response.status, textOf(response)]).toEqual([503, '{"status":"not_ready","dependencies":{"key_set":"unreachable"}}']);
		expect((await new GatewayBench().ask('/readyz', '', {}, { method: 'GET' })).status).toBe(200);
	});
});

it('records the codes that the firewall monitored, for inference requests', async () => {
	const bench = new GatewayBench();
	const { record } = await bench.ask(chatPath, chatBody, {}, { monitored: ['firewall_rule_matched', 'ip_rate_exceeded'] });
	expect(record?.monitored).toEqual(['firewall_rule_matched', 'ip_rate_exceeded']);
});
