import { describe, expect, it } from 'vitest';
import { demoConfig } from './demo.ts';
import { parseConfig } from './load.ts';
import { configNotes, configWarnings } from './warnings.ts';

const parse = (text: string) => parseConfig(text, { file: 'tollgate.yaml', env: {} }).config;
const settingsOf = (text: string): (string | undefined)[] => configWarnings(parse(text)).map((sentence) => sentence.split(':')[0]);
const provider = (kind: string, url: string): string => `providers: { p: { kind: ${kind}, base_url: "${url}", api_key: k } }`;
const auth = (issuer: string, keySet: string): string => `auth: { issuer: "${issuer}", jwks_uri: "${keySet}" }`;

describe('configWarnings', () => {
	it('has none for what comes with the product', () => {
		expect(configWarnings(parse(''))).toEqual([]);
		expect(configWarnings(demoConfig(parse('')).config)).toEqual([]);
		expect(settingsOf('enable_budgets: false\nenable_guardrails: true\nenable_admin_api: true')).toEqual([]);
	});

	it.each([
		['anthropic', 'https://llm.example.com/v1', 'ends in /v1, but'],
		['anthropic', 'https://llm.example.com/proxy/v1/', 'ends in /v1, but'],
		['gemini', 'https://llm.example.com/v1', 'ends in /v1, but'],
		['gemini', 'https://llm.example.com/v1beta', 'ends in /v1beta, but'],
		['openai', 'https://llm.example.com', 'has no path; requests go to /chat/completions'],
		['openai-compatible', 'https://llm.example.com/', 'has no path; requests go to /chat/completions'],
	])('tells of the base address of %s that is %s', (kind, url, message) => {
		expect(configWarnings(parse(provider(kind, url)))).toEqual([expect.stringContaining(`providers.p.base_url: ${message}`)]);
	});

	it.each([
		['anthropic', 'https://llm.example.com/proxy'],
		['anthropic', 'https://llm.example.com/v1/tenant'],
		['gemini', 'https://llm.example.com'],
		['openai', 'https://llm.example.com/openai'],
		['openai-compatible', 'https://llm.example.com/v1'],
	])('says nothing of the base address of %s that is %s', (kind, url) => {
		expect(configWarnings(parse(provider(kind, url)))).toEqual([]);
	});

	it.each([
		['https://login.example.com', 'http://login.example.com/keys', true],
		['https://login.example.com', 'http://10.0.0.7/keys', true],
		['HTTPS://login.example.com', 'http://login.example.com/keys', true],
		['https://login.example.com', 'https://login.example.com/keys', false],
		['https://login.example.com', 'http://127.0.0.1:9000/keys', false],
		['https://login.example.com', 'http://[::1]:9000/keys', false],
		['https://login.example.com', 'http://localhost:9000/keys', false],
		['https://login.example.com', 'http://keys.localhost:9000/', false],
		['http://identity:8789', 'http://identity:8789/keys', false],
	])('of the issuer %s and keys from %s warns: %s', (issuer, keySet, warns) => {
		expect(settingsOf(auth(issuer, keySet))).toEqual(warns ? ['auth.jwks_uri'] : []);
	});

	it.each([
		['enforce_guardrails: true', true],
		['enforce_guardrails: true\nenable_guardrails: true', false],
		['enable_guardrails: true', false],
	])('of %j warns that enforcement has no effect: %s', (text, warns) => {
		expect(settingsOf(text)).toEqual(warns ? ['enforce_guardrails'] : []);
	});

	it('does not mention moderation providers under enforcement, which evaluate streams too', () => {
		const moderationProvider = '{ name: moderation, kind: openai-moderation, api_key: k }';
		expect(
			settingsOf(`enable_guardrails: true\nenforce_guardrails: true\nguardrails: { moderation_providers: [${moderationProvider}] }`),
		).toEqual([]);
	});
});

describe('configNotes', () => {
	it('tells which tiers allow more than one address may send, and what to do', () => {
		const perIp = (requests: number): string => `edge: { firewall: { per_ip: { requests: ${requests} } } }`;
		expect(configNotes(parse(perIp(1999)))).toEqual([
			'edge.firewall.per_ip: 1,999 requests in 300 s are 399 a minute from one source address, less than these tiers allow a team: ' +
				'premium (500), enterprise (unlimited), unlimited (2,000); raise requests if a team sends from one address',
		]);
		expect(configNotes(parse(perIp(10_000)))).toEqual([expect.stringMatching(/2,000 a minute .*: enterprise \(unlimited\); raise/)]);
		expect(configNotes(parse(`${perIp(10_000)}\ntiers: { enterprise: { rpm: 2000 } }`))).toEqual([]);
		expect(configNotes(parse(`roles: [gateway]\n${perIp(10_000)}`))).toEqual([]);
	});

	it('says nothing of defaults, only of tiers that the file changes', () => {
		expect(configNotes(parse(''))).toEqual([]);
		expect(configNotes(parse('tiers: { preset: error_reference }'))).toEqual([]);
		expect(configNotes(parse('tiers: { standard: { rpm: 400 } }'))).toEqual([]);
		expect(configNotes(parse('tiers: { standard: { rpm: 401 } }'))).toEqual([expect.stringMatching(/allow a team: standard \(401\);/)]);
	});
});
