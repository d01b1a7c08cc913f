import { describe, expect, it } from 'vitest';
import { workedMs } from '../../../test/support/cpu-ms.ts';
import { dialectAt } from '../translate.ts';
import { Provider, type ProviderSettings } from './provider.ts';
import { relayedHeaders } from './relayed-headers.ts';
import { scrubSecrets } from './scrub-secrets.ts';

const open = (settings: Partial<ProviderSettings>) =>
	new Provider({
		name: 'p',
		kind: 'openai',
		baseUrl: 'https://h.test/v1',
		apiKey: 'sk-secret',
		canReachPrivateNetwork: false,
		...settings,
	});

describe('Provider', () => {
	it.each([
		['openai', null, 'https://h.test/v1', '', 'https://h.test', '/v1/chat/completions'],
		['openai-compatible', null, 'http://h.test:8080/team/x/v1/', 'a=1', 'http://h.test:8080', '/team/x/v1/chat/completions?a=1'],
		['anthropic', null, 'https://h.test', 'beta=true', 'https://h.test', '/v1/messages?beta=true'],
		['anthropic', null, 'https://h.test/proxy', '', 'https://h.test', '/proxy/v1/messages'],
		['azure-openai', null, 'https://h.test', 'x=1', 'https://h.test', '/openai/v1/chat/completions?x=1'],
		['azure-openai', null, 'https://h.test/openai', '', 'https://h.test', '/openai/v1/chat/completions'],
		['azure-openai', null, 'https://h.test/p/openai/v1', '', 'https://h.test', '/p/openai/v1/chat/completions'],
		[
			'azure-openai',
			'2024-10-21',
			'https://h.test',
			'',
			'https://h.test',
			'/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21',
		],
		[
			'azure-openai',
			'2024-10-21',
			'https://h.test/p/openai',
			'api-version=evil&x=1',
			'https://h.test',
			'/p/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21&x=1',
		],
		[
			'azure-openai',
			'2024-10-21',
			'https://h.test/openai/v1',
			'',
			'https://h.test',
			'/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21',
		],
	] as const)('finds the address of %s, version %s, under %s', (kind, apiVersion, baseUrl, query, origin, target) => {
		const provider = open({ kind, baseUrl, apiVersion });
		expect([provider.origin, provider.locate(provider.protocol.conversation, 'gpt-4o', query, false)]).toEqual([origin, target]);
	});

	it.each(['..', '.', 'a/b', '../x', 'a?b', 'a#b', 'é', 'a b', '%2e%2e', 'x'.repeat(65)])(
		'lets no model name %j change the path at Azure',
		(model) => {
			expect(() =>
				open({ kind: 'azure-openai', baseUrl: 'https://h.test', apiVersion: '2024-10-21' }).locate('chat', model, '', false),
			).toThrow('`model` must be the name of a deployment');
		},
	);

	it('selects streaming in Gemini’s URL', () => {
		const gemini = open({ kind: 'gemini', baseUrl: 'https://h.test/proxy' });
		expect(gemini.locate('gemini', 'gemini-3-pro', '', false)).toBe('/proxy/v1beta/models/gemini-3-pro:generateContent');
		expect(gemini.locate('gemini', 'gemini-3-pro', '', true)).toBe('/proxy/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse');
		const compatible = open({ kind: 'gemini', usesOpenaiDialect: true, baseUrl: 'https://h.test' });
		expect(compatible.locate('gemini-openai', 'gemini-3-pro', '', true)).toBe('/v1beta/openai/chat/completions');
		expect([dialectAt(gemini.protocol, 'chat'), dialectAt(compatible.protocol, 'chat')]).toEqual(['gemini', 'gemini-openai']);
		expect(gemini.requestHeaders({})['x-goog-api-key']).toBe('sk-secret');
		expect(compatible.requestHeaders({}).authorization).toBe('Bearer sk-secret');
	});

	it.each([
		'..',
		'a/b',
		'models/',
		'models/gemini-3-pro',
		'models/../x',
		'x:streamGenerateContent',
		'a?b',
		'a#b',
		'é',
		'%2e%2e',
		'x'.repeat(129),
	])('lets no model name %j change the path at Gemini', (model) => {
		expect(() => open({ kind: 'gemini', baseUrl: 'https://h.test' }).locate('gemini', model, '', false)).toThrow(
			'must be the name of a Gemini model',
		);
	});

	it('authenticates in the way of each kind', () => {
		expect(open({}).requestHeaders({}).authorization).toBe('Bearer sk-secret');
		expect(open({ kind: 'anthropic' }).requestHeaders({})).toMatchObject({ 'x-api-key': 'sk-secret', 'anthropic-version': '2023-06-01' });
		expect(open({ kind: 'azure-openai' }).requestHeaders({})['api-key']).toBe('sk-secret');
	});

	it("forwards only the client's listed header fields to the provider", () => {
		const received = {
			authorization: 'Bearer caller',
			cookie: 'c',
			'x-api-key': 'k',
			'api-key': 'k',
			'x-forwarded-for': '1.2.3.4',
			host: 'h',
			'x-gateway-provider': 'provider_b',
			'x-stainless-lang': 'js',
			'openai-organization': 'o',
			'user-agent': 'sdk',
			'accept-encoding': 'gzip',
			'anthropic-beta': 'b',
			'openai-beta': 'ob',
			accept: 'application/json',
			'idempotency-key': 'i',
			'content-type': 'application/json; charset=utf-8',
			connection: 'close',
			te: 'trailers',
			'content-length': '5',
		};
		const common = {
			'content-type': 'application/json',
			'accept-encoding': 'identity',
			'user-agent': 'tollgate',
			accept: 'application/json',
		};
		expect(open({}).requestHeaders(received)).toEqual({ ...common, authorization: 'Bearer sk-secret', 'openai-beta': 'ob' });
		expect(open({ kind: 'anthropic' }).requestHeaders(received)).toEqual({
			...common,
			'x-api-key': 'sk-secret',
			'anthropic-version': '2023-06-01',
			'anthropic-beta': 'b',
		});
	});

	it('forwards the version that the client sent; the one that only a client can have set takes precedence', () => {
		const version = (received: Record<string, string | string[]>) =>
			open({ kind: 'anthropic' }).requestHeaders(received)['anthropic-version'];
		expect(version({ 'anthropic-version': '2026-10-21' })).toBe('2026-10-21');
		expect(version({ 'provider-a-version': '2026-10-21' })).toBe('2026-10-21');
		expect(version({ 'anthropic-version': '2026-10-21', 'provider-a-version': '2023-06-01' })).toBe('2023-06-01');
		expect(version({ 'anthropic-version': 'v\u00e9' })).toBe('2023-06-01');
		expect(version({ 'anthropic-version': 'a\r\nx: y' })).toBe('2023-06-01');
	});

	it('forwards every `anthropic-` field to Anthropic alone, except those that select an account', () => {
		const received = {
			'anthropic-beta': ['a', 'b'],
			'anthropic-user-profile-id': 'uprof_1',
			'anthropic-field-of-next-year': 'x',
			'anthropic-workspace-id': 'wrkspc_other',
			'anthropic-organization-id': 'org-other',
			'x-anthropic-beta': 'no',
		};
		const anthropic = open({ kind: 'anthropic', headers: { 'anthropic-user-profile-id': 'ours' } }).requestHeaders(received);
		expect(Object.entries(anthropic).filter(([name]) => name.includes('anthropic'))).toEqual([
			['anthropic-version', '2023-06-01'],
			['anthropic-user-profile-id', 'ours'],
			['anthropic-beta', 'a, b'],
			['anthropic-field-of-next-year', 'x'],
		]);
		for (const kind of ['openai', 'gemini', 'azure-openai', 'openai-compatible'] as const) {
			expect(Object.keys(open({ kind }).requestHeaders(received)).filter((name) => name.includes('anthropic'))).toEqual([]);
		}
	});

	it('knows which settings are missing', () => {
		expect(['', '  ', 'REPLACE_ME', null, 'sk'].map((apiKey) => open({ apiKey }).isConfigured)).toEqual([false, false, false, false, true]);
		expect(open({ baseUrl: null }).isConfigured).toBe(false);
		const keyless = open({ kind: 'openai-compatible', apiKey: null });
		expect([keyless.isConfigured, keyless.requestHeaders({}).authorization]).toEqual([true, undefined]);
		expect(open({ kind: 'openai-compatible', apiKey: 'REPLACE_ME' }).isConfigured).toBe(false);
	});

	it('sends the operator’s header fields, whatever the client sends', () => {
		const provider = open({ headers: { 'openai-beta': 'ours', 'x-team': 't' } });
		expect(provider.requestHeaders({ 'openai-beta': 'theirs' })).toMatchObject({ 'openai-beta': 'ours', 'x-team': 't' });
	});
});

describe('secrets sent to a provider', () => {
	it('is its key, the fields that the operator sets, and credentials without their scheme', () => {
		const headers = { 'x-team': 'team-secret', authorization: 'Bearer proxy secret' };
		expect(open({ apiKey: ' sk-secret ', headers }).secrets).toEqual(['sk-secret', 'team-secret', 'Bearer proxy secret', 'proxy secret']);
		expect(open({ kind: 'openai-compatible', apiKey: null }).secrets).toEqual([]);
	});
});

describe('relayedHeaders', () => {
	const received = {
		'content-type': 'application/json',
		'retry-after': '59',
		'retry-after-ms': '1',
		'x-should-retry': 'true',
		'request-id': 'up',
		'set-cookie': ['a'],
		'cf-ray': 'x',
		'openai-organization': 'o',
		'anthropic-organization-id': 'a',
		'x-ratelimit-limit-requests': '5',
		'anthropic-ratelimit-tokens-limit': '6',
		server: 's',
		'transfer-encoding': 'chunked',
	};

	it('keeps account, cookies, limits and connection details', () => {
		expect(relayedHeaders(429, received)).toEqual({
			'content-type': 'application/json',
			'retry-after': '59',
			'retry-after-ms': '1',
			'x-should-retry': 'true',
			'x-gateway-upstream-request-id': 'up',
		});
	});

	it('does not relay `retry-after` on success, where Anthropic sends it too', () => {
		expect(relayedHeaders(200, received)).toEqual({
			'content-type': 'application/json',
			'x-should-retry': 'true',
			'x-gateway-upstream-request-id': 'up',
		});
	});
});

describe('scrubSecrets', () => {
	const apiKey = 'sk-proj-0123456789abcd';
	const scrub = (text: string, key = apiKey) => scrubSecrets(Buffer.from(text), [key]).toString();

	it.each([
		[`key ${apiKey}, again "${apiKey}"`, 'key ***, again "***"'],
		['Incorrect API key provided: sk-proj-**********abcd. See', 'Incorrect API key provided: ***. See'],
		['sk-p****', '***'],
		['****abcd.', '***.'],
		['"sk-proj-********************************************************************************9abcd"', '"***"'],
		['"sk-proj-...abcd"', '"***"'],
		['sk-proj-….', '***.'],
		['key sk-pr••••••abcd, sk-proj-\\u2026abcd', 'key ***, ***'],
		['漢 sk-proj-***abcd é', '漢 *** é'],
	])('hides the key in %j', (text, expected) => {
		expect(scrub(text)).toBe(expected);
	});

	it.each(['This is **bold** text', 'a ** b', '**', '*****', 'x*y', 'sk-other-****wxyz'.replace('sk-', 'zz-')])(
		'leaves %j as it is',
		(text) => {
			const bytes = Buffer.from(text);
			expect(scrubSecrets(bytes, [apiKey])).toBe(bytes);
		},
	);

	it.each([
		['a/b+c"d\\e-0123', JSON.stringify('key a/b+c"d\\e-0123.'), '"key ***."'],
		['a/b+c"d\\e-0123', JSON.stringify({ message: JSON.stringify('a/b+c"d\\e-0123') }), '{"message":"\\"***\\""}'],
		['sk-a/b=c0123', 'key sk-a\\/b\\u003dc0123', 'key ***'],
		['sk-a/b=c0123', '\\u0073\\u006B\\u002da\\/b=c01\\u00323', '***'],
		['sk-a/b=c0123', `https://vendor.test/?key=${encodeURIComponent('sk-a/b=c0123')}&x=%41`, 'https://vendor.test/?key=***&x=%41'],
		['sk-a/b=c0123', '<p>sk-a&#x2F;b&#61;c0123 sk-a&sol;b&equals;c0123 &#x73;&#0107;&#45;a/b=c0123</p>', '<p>*** *** ***</p>'],
		['sk-a/b=c0123', 'sk-a&amp;#x2F;b&amp;equals;c0123', '***'],
		['sk-a&b<c0123', 'sk-a&amp;b&lt;c0123', '***'],
		['sk-a/b=c0123', `?next=${encodeURIComponent(encodeURIComponent('sk-a/b=c0123'))}`, '?next=***'],
		['sk-a/b=c0123', "'sk\\x2da\\x2Fb\\x3dc0123'", "'***'"],
	])('hides %j however it is escaped', (key, text, expected) => {
		expect(scrub(text, key)).toBe(expected);
	});

	it('leaves other escapes as they are', () => {
		const bytes = Buffer.from('{"a":"\\u0041\\n\\"%20\\\\"}');
		expect(scrubSecrets(bytes, [apiKey])).toBe(bytes);
	});

	it.each(['\\', '\\u00', '%', '%25', '&', '&amp;', '&#0', 'sk-\\', 'sk-&amp;', '\\\\-'])('stays quick on a body made of %j', (piece) => {
		expect(workedMs(() => scrub(piece.repeat(50_000), '\\--\\\\-sk-\\\\\\\\\\\\\\\\x'))).toBeLessThan(500);
	});

	it('hides several, the longer first if one contains the other', () => {
		const secrets = ['sk-part', 'sk-part-and-more', 'other-secret'];
		expect(scrubSecrets(Buffer.from('sk-part, sk-part-and-more, other-secret'), secrets).toString()).toBe('***, ***, ***');
	});

	it('does not treat a short word as a key', () => {
		expect(scrub('a word is a word', 'word')).toBe('a word is a word');
		expect(scrub('x', '')).toBe('x');
	});

	it('stays quick on a body made of masks', () => {
		expect(workedMs(() => scrub('sk-proj-0123**9abc'.repeat(5000), apiKey))).toBeLessThan(500);
	});
});
