import { describe, expect, it } from 'vitest';
import { parseConfig } from './load.ts';
import { ConfigError } from './problem.ts';
import type { Config, ProviderConfig } from './schema.ts';

const parse = (text: string, env: Record<string, string> = {}): Config => parseConfig(text, { file: 'tollgate.yaml', env }).config;

function provider(fields: object, env: Record<string, string> = {}): ProviderConfig | undefined {
	return parse(JSON.stringify({ providers: { mine: fields } }), env).providers['mine'];
}

function rejectionOf(run: () => unknown): string {
	try {
		run();
	} catch (cause) {
		if (cause instanceof ConfigError) return cause.message;
		throw cause;
	}
	return '';
}

describe('the built-in providers', () => {
	it('have the vendors’ addresses, and keys from the environment', () => {
		const { providers } = parse('', { ANTHROPIC_API_KEY: 'sk-a', GEMINI_API_KEY: '' });
		expect(Object.entries(providers).map(([name, { kind, base_url, api_key }]) => [name, kind, base_url, api_key])).toEqual([
			['provider_a', 'anthropic', 'https://api.anthropic.com', 'sk-a'],
			['provider_b', 'openai', 'https://api.openai.com/v1', 'REPLACE_ME'],
			['provider_c', 'gemini', 'https://generativelanguage.googleapis.com', 'REPLACE_ME'],
			['provider_d', 'azure-openai', null, 'REPLACE_ME'],
		]);
	});

	it('name the environment where its proxy is none, and the file where it is its own', () => {
		const fromEnvironment = rejectionOf(() => parse('', { HTTPS_PROXY: 'socks5://user:hush@proxy.test:1080' }));
		expect(fromEnvironment).toContain('providers.provider_a.proxy: must be `direct` or the URL of an HTTP proxy');
		expect(fromEnvironment).toContain('(it comes from HTTPS_PROXY or HTTP_PROXY of the environment)');
		expect(fromEnvironment).not.toContain('hush');
		expect(rejectionOf(() => parse('providers: { provider_a: { proxy: "socks5://proxy.test" } }'))).not.toContain('environment');
	});

	it('may be changed field by field, and others added', () => {
		const { providers } = parse(
			'providers: { provider_a: { headers: { x-team: blue } }, provider_d: { base_url: "https://x.openai.azure.com/" , deployments: { gpt: } }, local: { kind: openai-compatible, base_url: "http://127.0.0.1:11434/v1", allow_private_network: true } }',
			{ ANTHROPIC_API_KEY: 'sk-a' },
		);
		expect(providers['provider_a']).toMatchObject({ kind: 'anthropic', api_key: 'sk-a', headers: { 'x-team': 'blue' } });
		expect(providers['provider_b']?.kind).toBe('openai');
		expect(providers['provider_d']).toMatchObject({ base_url: 'https://x.openai.azure.com', deployments: { gpt: {} } });
		expect(providers['local']).toMatchObject({ api_key: null, base_url: 'http://127.0.0.1:11434/v1' });
	});

	it('do not send one vendor’s key to another', () => {
		const { providers } = parse('providers: { provider_a: { kind: openai } }', { ANTHROPIC_API_KEY: 'sk-a', OPENAI_API_KEY: 'sk-o' });
		expect(providers['provider_a']).toMatchObject({ kind: 'openai', base_url: 'https://api.openai.com/v1', api_key: 'REPLACE_ME' });
	});

	it('say that a key which cannot be sent came from the environment', () => {
		const message = rejectionOf(() => parse('', { OPENAI_API_KEY: 'sk-o\n' }));
		expect(message).toContain('providers.provider_b.api_key: must be printable ASCII');
		expect(message).toContain('OPENAI_API_KEY');
		expect(message).not.toContain('sk-o');
	});
});

describe('base_url', () => {
	it.each([
		'https://127.0.0.1/v1',
		'https://localhost',
		'https://localhost.',
		'https://a.localhost/',
		'https://LOCALHOST/',
		'https://127.0.0.1.',
		'https://127.1/',
		'https://2130706433',
		'https://0x7f000001',
		'https://0177.0.0.1/',
		'https://0/',
		'https://10.1.2.3',
		'https://172.16.0.1',
		'https://192.168.0.1',
		'https://100.64.0.1',
		'https://169.254.169.254/latest/meta-data',
		'https://2852039166',
		'https://0xa9fea9fe',
		'https://[::1]',
		'https://[::ffff:127.0.0.1]',
		'https://[::ffff:7f00:1]',
		'https://[::127.0.0.1]',
		'https://[64:ff9b::7f00:1]',
		'https://[2002:7f00:1::]',
		'https://[fd00:ec2::254]',
		'https://[fe80::1]',
		'https://[fc00::1]',
		'https://[ff02::1]',
		'https://[::]',
		'https://224.0.0.1',
		'https://255.255.255.255',
		'http://api.example.com',
	])('%s needs the allowance', (base_url) => {
		expect(rejectionOf(() => provider({ kind: 'openai', base_url }))).toContain('allow_private_network');
		expect(provider({ kind: 'openai', base_url, allow_private_network: true })).toBeDefined();
	});

	it.each([
		'https://user@example.com',
		'https://user:pw@example.com',
		'https://@example.com',
		'https://example.com#',
		'https://example.com/#x',
		'https://example.com?x=1',
		'https://example.com/?',
		'https://example.com\\@evil.example',
		'https://exa mple.com',
		' https://example.com',
		'https:///example.com',
		'https://example.com\n',
		'https://exam\tple.com',
		'ftp://example.com',
		'file:///etc/passwd',
		'example.com',
		'//example.com',
		'https://',
		'https://[::1',
		'https://a:99999',
		'https://1.2.3.4.5',
		'',
	])('%j is rejected even with it', (base_url) => {
		expect(rejectionOf(() => provider({ kind: 'openai', base_url, allow_private_network: true }))).toContain('base_url');
	});

	it.each([
		['https://api.example.com', 'https://api.example.com'],
		['HTTPS://API.Example.com/', 'https://api.example.com'],
		['https://api.example.com:8443/prefix/v1//', 'https://api.example.com:8443/prefix/v1'],
		['https://8.8.8.8/v1', 'https://8.8.8.8/v1'],
		['https://[2606:4700:4700::1111]/', 'https://[2606:4700:4700::1111]'],
	])('%s is kept as %s', (base_url, retained) => {
		expect(provider({ kind: 'openai', base_url })?.base_url).toBe(retained);
	});

	it.each([
		[{ kind: 'openai-compatible' }, 'base_url: is required for kind openai-compatible'],
		[{ kind: 'azure-openai', deployments: { gpt: {} } }, 'base_url: is required for the deployments'],
		[{ kind: 'openai', api_version: '2024-10-21' }, 'api_version: applies to kind azure-openai only'],
		[{ kind: 'openai', deployments: { gpt: {} } }, 'deployments: apply to kind azure-openai only'],
		[{ kind: 'openai', headers: { 'X-Team': 'a' } }, 'must be a header field name in lower case'],
		[{ kind: 'openai', headers: { host: 'a' } }, 'is set by Tollgate'],
		[{ kind: 'openai', headers: { 'x-team': 'a\r\nb' } }, 'printable ASCII'],
		[{ kind: 'antropic' }, 'must be one of anthropic'],
		[{ kind: 'openai', dialect: 'openai' }, 'applies to kind gemini only'],
	])('%j is rejected', (fields, expected) => {
		expect(rejectionOf(() => provider(fields))).toContain(expected);
	});
});

describe('tiers', () => {
	const shown = (text: string): unknown[] =>
		Object.entries(parse(text).tiers).map(([name, tier]) => [name, tier.rpm, tier.daily_tokens, tier.monthly_budget_usd]);

	it('are the Limits table with the other table’s budgets and top tier', () => {
		expect(shown('')).toEqual([
			['sandbox', 20, 100_000, '25'],
			['standard', 100, 1_000_000, '100'],
			['premium', 500, 10_000_000, '1000'],
			['enterprise', null, null, null],
			['unlimited', 2000, null, '10000'],
		]);
	});

	it('are the error reference’s table with `preset: error_reference`', () => {
		expect(shown('tiers: { preset: error_reference }')).toEqual([
			['sandbox', 20, 100_000, '25'],
			['standard', 100, 500_000, '100'],
			['premium', 500, 5_000_000, '1000'],
			['unlimited', 2000, null, '10000'],
		]);
	});

	it('may be changed field by field, and others added', () => {
		const tiers = parse('tiers: { standard: { rpm: 120 }, trial: { rpm: 5, daily_tokens: null, monthly_budget_usd: 1.5 } }').tiers;
		expect(tiers['standard']).toEqual({ rpm: 120, daily_tokens: 1_000_000, monthly_budget_usd: '100' });
		expect(tiers['trial']).toEqual({ rpm: 5, daily_tokens: null, monthly_budget_usd: '1.5' });
	});
});
