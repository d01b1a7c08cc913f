import { describe, expect, it } from 'vitest';
import { parseConfig } from './load.ts';
import { isProxySetting, proxyFromEnvironment, proxyOf } from './proxy.ts';
import { redactedYaml } from './redacted-config.ts';

describe('the setting proxy', () => {
	it.each(['direct', 'http://proxy:3128', 'https://proxy.example.com', 'http://user:p%40ss@10.0.0.7:8080/', 'http://[::1]:3128'])(
		'takes %s',
		(text) => {
			expect(isProxySetting(text)).toBe(true);
		},
	);

	it.each([
		'',
		'none',
		'proxy:3128',
		'socks5://proxy:1080',
		'http://proxy/path',
		'http://proxy?x',
		'http://a b',
		'http://user%0d%0ax:p@proxy',
		'http://us%3Aer:p@proxy',
		'http://%zz@proxy',
	])('rejects %s', (text) => {
		expect(isProxySetting(text)).toBe(false);
	});

	it('returns an origin without the credentials, and these separately', () => {
		expect(proxyOf('http://user:p%40ss@proxy:3128')).toEqual({ origin: 'http://proxy:3128', authorization: `Basic ${btoa('user:p@ss')}` });
		expect(proxyOf('http://proxy:80/')).toEqual({ origin: 'http://proxy' });
		expect([proxyOf(null), proxyOf('direct')]).toEqual([undefined, undefined]);
	});
});

describe('the environment', () => {
	const env = { HTTPS_PROXY: 'http://secure:3128', http_proxy: 'plain:3128', HTTP_PROXY: 'http://other:1' };

	it('names a proxy by the scheme of the provider, the name in lower case first', () => {
		expect(proxyFromEnvironment('https://api.example.com/v1', env)).toBe('http://secure:3128');
		expect(proxyFromEnvironment('http://llm.example.com', env)).toBe('http://plain:3128');
		expect(proxyFromEnvironment('https://api.example.com', { HTTPS_PROXY: ' ' })).toBeUndefined();
		expect(proxyFromEnvironment('https://api.example.com', {})).toBeUndefined();
	});

	it('names none for this machine', () => {
		for (const host of ['localhost', 'x.localhost', '127.0.0.1', '127.8.8.8', '[::1]']) {
			expect(proxyFromEnvironment(`http://${host}:11434`, env)).toBeUndefined();
		}
	});

	it.each([
		['api.example.com', 'https://api.example.com', true],
		['example.com', 'https://api.example.com', true],
		['.example.com', 'https://api.example.com', true],
		['*.example.com', 'https://api.example.com', true],
		['EXAMPLE.com.', 'https://api.example.com.', true],
		['example.com', 'https://badexample.com', false],
		['other.com example.com:443', 'https://api.example.com', true],
		['example.com:8443', 'https://api.example.com', false],
		['*', 'https://api.example.com', true],
		['10.0.0.0/8', 'http://10.1.2.3:8000', true],
		['10.0.0.0/8', 'http://11.1.2.3', false],
		['0.0.0.0/0', 'http://[2001:db8::1]', false],
		['2001:db8::/32', 'http://[2001:db8::1]', true],
		['[2001:db8::1]:80', 'http://[2001:db8::1]', true],
		['192.0.2.7', 'http://192.0.2.7', true],
		[' , ', 'https://api.example.com', false],
	])('NO_PROXY=%s and %s', (no_proxy, address, isExempt) => {
		expect(proxyFromEnvironment(address, { ...env, no_proxy }) === undefined).toBe(isExempt);
	});
});

describe('a configuration', () => {
	const parse = (value: object, env: Record<string, string> = {}) => parseConfig(JSON.stringify(value), { file: 'tollgate.yaml', env });
	const moderationProvider = { name: 'm', kind: 'openai-moderation' };

	it('takes the proxy of the environment for providers and moderation providers that have none of their own', () => {
		const { config } = parse(
			{
				providers: {
					own: { kind: 'openai', proxy: 'http://mine:1' },
					straight: { kind: 'openai', proxy: 'direct' },
					near: { kind: 'openai-compatible', base_url: 'http://127.0.0.1:1/v1', allow_private_network: true },
				},
				guardrails: { moderation_providers: [moderationProvider, { ...moderationProvider, name: 'n', proxy: 'direct' }] },
			},
			{ HTTPS_PROXY: 'http://secure:3128', NO_PROXY: 'anthropic.com' },
		);
		const proxies = Object.entries(config.providers).map(([name, { proxy }]) => [name, proxy]);
		expect(Object.fromEntries(proxies)).toMatchObject({
			own: 'http://mine:1',
			straight: 'direct',
			near: null,
			provider_a: null,
			provider_b: 'http://secure:3128',
		});
		expect(config.guardrails.moderation_providers.map(({ proxy }) => proxy)).toEqual(['http://secure:3128', 'direct']);
	});

	it('shows no proxy’s credentials', () => {
		const { config } = parse({ providers: { own: { kind: 'openai', proxy: 'http://user:hush-hush@mine:1' } } });
		expect(redactedYaml(config)).not.toContain('hush-hush');
	});

	it('says what a proxy must be, for that of the environment too', () => {
		const wrong = () => parse({ providers: { mine: { kind: 'openai' } } }, { HTTPS_PROXY: 'socks5://secret:hush-hush@proxy' });
		expect(wrong).toThrow(/URL of an HTTP proxy/);
		expect(wrong).not.toThrow(/hush-hush/);
	});
});
