import { describe, expect, it } from 'vitest';
import { demoConfig } from './demo.ts';
import { acceptedIssuer, identityUrl } from './identity-url.ts';
import { parseListen } from './listen.ts';
import { parseConfig } from './load.ts';
import type { Config } from './schema.ts';

const parse = (text: string, env: Record<string, string> = {}): Config => parseConfig(text, { file: 'tollgate.yaml', env }).config;

describe('demoConfig', () => {
	it('points every provider without a key to the simulator and runs it', () => {
		const { config, simulatedProviders } = demoConfig(parse(''));
		expect(simulatedProviders).toEqual(['provider_a', 'provider_b', 'provider_c', 'provider_d']);
		expect(Object.values(config.providers).map(({ base_url }) => base_url)).toEqual([
			'http://127.0.0.1:8790/anthropic',
			'http://127.0.0.1:8790/openai/v1',
			'http://127.0.0.1:8790/gemini',
			'http://127.0.0.1:8790/azure',
		]);
		expect(config.providers['provider_d']).toMatchObject({
			api_key: 'simulator',
			allow_private_network: true,
			deployments: { 'demo-deployment': {} },
		});
		expect(config.roles).toContain('simulator');
		expect([config.enable_admin_api, config.enable_guardrails, config.enforce_guardrails]).toEqual([true, true, false]);
	});

	it('leaves a provider alone whose key is set', () => {
		const own = parse('', { ANTHROPIC_API_KEY: 'sk-a' });
		const { config, simulatedProviders } = demoConfig(own);
		expect(simulatedProviders).not.toContain('provider_a');
		expect(config.providers['provider_a']).toEqual(own.providers['provider_a']);
	});

	it('simulates Azure with a key, which has no address', () => {
		expect(demoConfig(parse('', { AZURE_OPENAI_API_KEY: 'k' })).simulatedProviders).toContain('provider_d');
	});

	it('runs no simulator without a provider that needs it', () => {
		const providers = ['a', 'b', 'c', 'd'].map((letter) => `provider_${letter}: { api_key: k, base_url: "https://${letter}.example" }`);
		const { config, simulatedProviders } = demoConfig(parse(`providers: { ${providers.join(', ')} }`));
		expect(simulatedProviders).toEqual([]);
		expect(config.roles).not.toContain('simulator');
	});
});

describe('addresses', () => {
	it.each([
		['127.0.0.1:8787', { host: '127.0.0.1', port: 8787 }],
		['[::1]:0', { host: '::1', port: 0 }],
		['gateway.internal:65535', { host: 'gateway.internal', port: 65_535 }],
	])('%s is parsed', (text, expected) => {
		expect(parseListen(text)).toEqual(expected);
	});

	it.each(['', ':8787', '8787', '127.0.0.1', '::1:8787', '[x]:1', '1.2.3.4.5:1', '127.0.0.1:65536', 'a b:1', '[1:2]:3'])(
		'%j is none',
		(text) => {
			expect(parseListen(text)).toBeUndefined();
		},
	);

	it.each([
		['', 'http://127.0.0.1:8789'],
		['identity: { listen: "0.0.0.0:9" }', 'http://127.0.0.1:9'],
		['identity: { listen: "[::]:9" }', 'http://[::1]:9'],
		['identity: { public_url: "https://id.example.com/" }', 'https://id.example.com'],
	])('the identity of %j is at %s', (text, url) => {
		expect(identityUrl(parse(text))).toBe(url);
		expect(acceptedIssuer(parse(text))).toBe(url);
	});

	it('a foreign issuer is accepted exactly as it is written', () => {
		expect(acceptedIssuer(parse('auth: { issuer: "https://login.example.com/" }'))).toBe('https://login.example.com/');
	});
});
