/** Random configurations, lists and requests: no request reaches a target that the oracle does not allow. */
import { expect, it } from 'vitest';
import { isAllowedByOracle, type OracleLists, type OracleProvider } from '../../../test/support/allow-list-oracle.ts';
import {
	callerOf,
	GatewayBench,
	jsonResponse,
	sentText,
	summaryOf,
	teamDirectory,
	testSettings,
	testTraffic,
} from '../../../test/support/gateway-bench.ts';
import type { RoutingRule } from '../../core/routing-rule.ts';
import type { Team } from '../../core/team.ts';
import type { UpstreamRequest } from '../../core/upstream.ts';
import type { GatewayProvider } from './gateway-settings.ts';

const configurations = 400;
const requestsEach = 10;

/** Mulberry32. */
function randomFrom(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}

const providerNames = ['provider_a', 'provider_b', 'provider_c', 'provider_d', 'local'];
const bare = ['gpt-5', 'gpt-4o-mini', 'claude-sonnet-4-5', 'gemini-2.5-flash', 'our-gpt', 'meta/llama-3', 'openai/gpt-oss-20b', 'unknown'];
const aliasNames = ['fast', 'smart', 'gpt-4o-mini', 'acme/best'];
const prefixes = [...providerNames, 'openai', 'anthropic', 'google', 'azure', 'models', 'nobody'];
const patterns = [
	...bare,
	...aliasNames,
	...providerNames.flatMap((name) => [`${name}/*`, `${name}/gpt-*`]),
	'*',
	'gpt-*',
	'GPT-5',
	'claude-*',
	'*mini',
	'g*5*',
	'openai/*',
	'google/*',
	'azure/our-gpt',
	'*/gpt-5',
	'provider_*/gpt-*',
	'meta/*',
	'p*',
];

class Chance {
	readonly #next: () => number;

	constructor(seed: number) {
		this.#next = randomFrom(seed);
	}

	of(share: number): boolean {
		return this.#next() < share;
	}

	pick<Value>(values: readonly Value[]): Value {
		return values[Math.floor(this.#next() * values.length)] as Value;
	}

	some<Value>(values: readonly Value[], most: number): Value[] {
		return Array.from({ length: 1 + Math.floor(this.#next() * most) }, () => this.pick(values));
	}

	modelName(): string {
		const name = this.pick([...bare, ...bare, ...aliasNames]);
		const spelled = this.of(0.15) ? name.toUpperCase() : name;
		return this.of(0.25) ? `${this.pick(prefixes)}/${spelled}` : spelled;
	}

	lists(): OracleLists {
		const allow = this.of(0.4) ? this.some(patterns, 8) : undefined;
		const deny = this.of(0.4)
			? this.some(
					patterns.filter((pattern) => pattern !== '*'),
					2,
				)
			: undefined;
		const region = this.of(0.2) ? this.pick(['eu', 'us']) : undefined;
		const retention = this.of(0.15) ? this.pick(['none', '30d']) : undefined;
		return {
			...((allow ?? deny) !== undefined && { models: { ...(allow && { allow }), ...(deny && { deny }) } }),
			...(this.of(0.3) && { providers: { allow: this.some([...providerNames, 'openai'], 3) } }),
			...((region ?? retention) !== undefined && { require: { ...(region && { region }), ...(retention && { retention }) } }),
		};
	}
}

function providersFor(chance: Chance): readonly (GatewayProvider & OracleProvider)[] {
	const local: GatewayProvider = {
		name: 'local',
		kind: 'openai-compatible',
		baseUrl: 'https://l.test/v1',
		apiKey: 'local-key',
		canReachPrivateNetwork: false,
		servesResponses: true,
		traffic: testTraffic,
	};
	const traffic = { ...testTraffic, ejectAfterFailures: null };
	return [...testSettings.providers, local].map((provider) => {
		const { name } = provider;
		const knownAs = name === 'provider_d' && chance.of(0.6) ? chance.pick(['gpt-5', 'gpt-4o-mini']) : undefined;
		return {
			...provider,
			traffic,
			...(name === 'local' && { models: ['meta/llama-3', ...(chance.of(0.5) ? ['openai/gpt-oss-20b', 'gpt-5'] : [])] }),
			facts: {
				region: chance.pick(['eu', 'us', undefined]),
				retention: chance.pick(['none', '30d', undefined]),
			},
			...(knownAs !== undefined && { modelCapabilities: { 'our-gpt': { knownAs } }, knownAs: { 'our-gpt': knownAs } }),
		};
	});
}

function rulesFor(chance: Chance): readonly RoutingRule[] {
	if (chance.of(0.2)) return [];
	return Array.from({ length: 1 + Number(chance.of(0.5)) }, (_, priority) => ({
		id: `r${priority}`,
		name: 'r',
		priority,
		isEnabled: true,
		mode: chance.pick(['enforce', 'monitor'] as const),
		match: {
			model: chance.of(0.5) ? null : chance.pick(['gpt-*', '*', ...bare, 'fast', 'openai/*']),
			team: chance.pick([null, 'red']),
			format: null,
		},
		strategy: chance.pick(['priority', 'weighted'] as const),
		targets: chance
			.some(providerNames, 6)
			.map((provider) => ({ provider, model: chance.pick([null, null, ...bare]), weight: chance.pick([1, 3]) })),
		createdAtMs: 0,
		updatedAtMs: 0,
	}));
}

const chatEndpoint = { path: '/v1/chat/completions', body: { messages: [{ role: 'user', content: 'hi' }] } };
const endpoints = [
	chatEndpoint,
	{ path: '/v1/messages', body: { max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] } },
	{ path: '/v1/responses', body: { input: 'hi' } },
	{ path: '/v1/responses/compact', body: { input: 'hi' } },
	{ path: '/v1/embeddings', body: { input: 'hi' } },
	{ path: '/v1/completions', body: { prompt: 'hi' } },
	{ path: '/v1/messages/count_tokens', body: { messages: [{ role: 'user', content: 'hi' }] } },
];

const hosts: Readonly<Record<string, string>> = { a: 'provider_a', b: 'provider_b', c: 'provider_c', d: 'provider_d', l: 'local' };

/** Reads provider and model from the request on the wire. */
function targetOf(request: UpstreamRequest): readonly [provider: string, model: string] {
	const { origin, target } = request;
	const provider = hosts[new URL(origin).hostname.charAt(0)] ?? '';
	const inPath = /\/(?:models|deployments)\/([^/?:]+)/.exec(target)?.[1];
	if (inPath !== undefined) return [provider, decodeURIComponent(inPath)];
	return [provider, (JSON.parse(sentText(request)) as { model: string }).model];
}

interface Configuration {
	readonly providers: readonly (GatewayProvider & OracleProvider)[];
	readonly aliases: Readonly<Record<string, string>>;
	readonly rules: readonly RoutingRule[];
	readonly tierLists: OracleLists;
	readonly teamLists: OracleLists | undefined;
}

function configurationFor(chance: Chance): Configuration {
	const aliases = aliasNames.filter(() => chance.of(0.5)).map((name) => [name, `${chance.pick(providerNames)}/${chance.pick(bare)}`]);
	return {
		providers: providersFor(chance),
		aliases: Object.fromEntries(aliases) as Record<string, string>,
		rules: rulesFor(chance),
		tierLists: chance.of(0.5) ? chance.lists() : {},
		teamLists: chance.of(0.7) ? chance.lists() : undefined,
	};
}

/** Client `good` is in a team with lists; client `free` in one without. */
function benchFor({ providers, aliases, rules, tierLists, teamLists }: Configuration): GatewayBench {
	const tier = { requestsPerMinute: null, dailyTokens: null, monthlyBudgetUsd: null };
	const team: Team = { id: 'red', name: 'red', tier: 'standard', clientIds: [], ...(teamLists !== undefined && { allowLists: teamLists }) };
	const free: Team = { id: 'red', name: 'red', tier: 'free', clientIds: [] };
	return new GatewayBench(
		{
			providers,
			routing: {
				providerHeader: 'optional',
				aliases,
				defaults: { chat: 'provider_b', messages: 'provider_a', responses: 'provider_b', embeddings: 'local', completions: 'local' },
			},
			responses: { state: 'owner', retentionMs: 1000 },
			tiers: { sandbox: tier, free: tier, standard: { ...tier, allowLists: tierLists } },
		},
		{
			teams: teamDirectory({ teamOf: (clientId) => (clientId === 'free' ? free : team), routingRules: () => rules }),
			verifier: { verify: (accessToken) => callerOf(accessToken) },
		},
	);
}

it('no request reaches a target that the lists do not allow, and all others are tried', async () => {
	const seen = { rejected: 0, skipped: 0, served: 0 };
	for (let seed = 1; seed <= configurations; seed++) {
		const chance = new Chance(seed);
		const configuration = configurationFor(chance);
		const { providers, teamLists = {}, tierLists } = configuration;
		const bench = benchFor(configuration);
		for (let index = 0; index < requestsEach; index++) {
			const endpoint = chance.of(0.4) ? chatEndpoint : chance.pick(endpoints);
			const requested = chance.modelName();
			const headers = chance.of(0.2) ? { 'x-gateway-provider': chance.pick([...providerNames, 'openai', 'google']) } : {};
			const isBroken = chance.of(0.7);
			bench.respond = () => (isBroken ? jsonResponse(503, '{"error":{"message":"no"}}') : jsonResponse(200, '{"id":"x"}'));
			const send = async (client: string) => {
				bench.sent.length = 0;
				const body = JSON.stringify({ model: requested, ...endpoint.body });
				const response = await bench.ask(
					endpoint.path,
					body,
					{ ...headers, authorization: `Bearer ${client}` },
					{ id: `req-${seed}-${index}` },
				);
				return { status: response.status, summary: response.status === 403 ? summaryOf(response) : '', sent: bench.sent.map(targetOf) };
			};
			const restricted = await send('good');
			const free = await send('free');
			const isAllowed = ([name, model]: readonly [string, string]): boolean => {
				const provider = providers.find((one) => one.name === name);
				if (provider === undefined) throw new Error(`${name} is no provider`);
				return isAllowedByOracle(requested, provider, model, teamLists, tierLists, providerNames);
			};
			const context = JSON.stringify({ seed, requested, headers, path: endpoint.path, ...configuration, providers: [] });
			expect([context, restricted.sent.filter((target) => !isAllowed(target))]).toEqual([context, []]);
			const isRejected = restricted.status === 403;
			expect([context, restricted.summary, isRejected && restricted.sent.length > 0]).toEqual([
				context,
				isRejected ? '403 model_not_allowed' : '',
				false,
			]);
			// A target that cannot serve the format ends the request or is skipped, by its position.
			if (free.status === 400 || restricted.status === 400) continue;
			// A count of tokens that is estimated ends the attempts without a provider.
			if (isBroken && free.status >= 500) expect([context, restricted.sent]).toEqual([context, free.sent.filter(isAllowed)]);
			if (isRejected) seen.rejected++;
			else if (restricted.sent.length < free.sent.length) seen.skipped++;
			else seen.served++;
		}
	}
	const total = configurations * requestsEach;
	expect(Math.min(seen.rejected, seen.served)).toBeGreaterThan(total / 10);
	expect(seen.skipped).toBeGreaterThan(total / 50);
});
