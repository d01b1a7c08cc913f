/** Metrics of the cost and usage of requests. They are updated when the ledger entry closes, so that both agree. */
import type { Counter, Histogram, Metrics } from '../../core/metrics.ts';
import { totalTokens, type Usage } from '../../core/usage.ts';
import type { PriceResolver } from '../../policy/budgets/price-resolver.ts';
import type { RoutedProvider, RoutingSettings } from '../../policy/routing/routing-settings.ts';

/** An ended request with the values of its ledger entry. */
export interface EndedRequest {
	readonly provider: string;
	readonly model: string;
	readonly team: string;
	readonly usage: Usage;
	readonly costNanoUsd: bigint;
	readonly isEstimated: boolean;
	/** Time from sending the request to its end. */
	readonly upstreamMs: number;
}

/** Covers short responses up to the longest that the timeouts allow. */
const upstreamBuckets = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320, 640];

/** Maximum number of models per provider, because clients choose model names. Those neither configured nor priced share one label. */
const maxCached = 1000;

type Counting = ReturnType<Counter['of']>;

interface ModelCounters {
	readonly input: Counting;
	readonly cacheRead: Counting;
	readonly cacheWrite: Counting;
	readonly output: Counting;
	readonly reasoning: Counting;
	readonly costUsd: Counting;
	readonly estimated: Counting;
	readonly upstream: ReturnType<Histogram['of']>;
}

interface TeamCounters {
	readonly requests: Counting;
	readonly tokens: Counting;
	readonly costUsd: Counting;
}

export interface RequestMetricsByModelDeps {
	readonly settings: {
		readonly providers: readonly RoutedProvider[];
		readonly routing: Pick<RoutingSettings, 'aliases'>;
		readonly hasTeamMetrics?: boolean;
	};
	readonly prices: Pick<PriceResolver, 'priceOf' | 'listedModel'>;
	/** Returns true for a registered team; other ids come from clients. */
	readonly isRegistered: (team: string) => boolean;
	readonly nowMs: () => number;
}

export class RequestMetricsByModel {
	readonly #deps: RequestMetricsByModelDeps;
	readonly #metrics: Metrics;
	readonly #kinds: ReadonlyMap<string, string>;
	/** `provider/model` of aliases and of the models that providers list. */
	readonly #configured: ReadonlySet<string>;
	/** Nested by provider and model, because a combined key would be hashed again for each request. */
	readonly #ofModels = new Map<string, Map<string, ModelCounters>>();
	/** Counters of all other models, by provider. */
	readonly #ofOthers = new Map<string, ModelCounters>();
	readonly #ofTeams = new Map<string, TeamCounters>();

	constructor(metrics: Metrics, deps: RequestMetricsByModelDeps) {
		const { providers, routing } = deps.settings;
		this.#metrics = metrics;
		this.#deps = deps;
		this.#kinds = new Map(providers.map(({ name, kind }) => [name, kind]));
		this.#configured = new Set([
			...Object.values(routing.aliases),
			...providers.flatMap(({ name, models = [] }) => models.map((model) => `${name}/${model}`)),
		]);
		declareModelCounters(metrics);
		if (deps.settings.hasTeamMetrics === true) declareTeamCounters(metrics);
	}

	ended({ provider, model, team, usage, costNanoUsd, isEstimated, upstreamMs }: EndedRequest): void {
		const counters = this.#countersOf(provider, model);
		const costUsd = Number(costNanoUsd) / 1e9;
		counters.input.add(usage.inputTokens);
		counters.output.add(usage.outputTokens);
		if (usage.cacheReadTokens > 0) counters.cacheRead.add(usage.cacheReadTokens);
		if (usage.cacheWriteTokens > 0) counters.cacheWrite.add(usage.cacheWriteTokens);
		if (usage.reasoningTokens > 0) counters.reasoning.add(usage.reasoningTokens);
		counters.costUsd.add(costUsd);
		if (isEstimated) counters.estimated.add();
		counters.upstream.observe(upstreamMs / 1000);
		if (this.#deps.settings.hasTeamMetrics !== true) return;
		const ofTeam = this.#countersOfTeam(team);
		ofTeam.requests.add();
		ofTeam.tokens.add(totalTokens(usage));
		ofTeam.costUsd.add(costUsd);
	}

	#countersOf(provider: string, model: string): ModelCounters {
		let ofProvider = this.#ofModels.get(provider);
		const known = ofProvider?.get(model);
		if (known !== undefined) return known;
		const label = this.#labelOf(provider, model);
		// Not cached by name, because a price may be set for it later.
		if (label === undefined) return this.#countersOfOthers(provider);
		const counters = modelCounters(this.#metrics, provider, label);
		if (ofProvider === undefined || ofProvider.size >= maxCached) {
			ofProvider = new Map<string, ModelCounters>();
			this.#ofModels.set(provider, ofProvider);
		}
		ofProvider.set(model, counters);
		return counters;
	}

	#countersOfOthers(provider: string): ModelCounters {
		let counters = this.#ofOthers.get(provider);
		if (counters === undefined) {
			counters = modelCounters(this.#metrics, provider, 'other');
			this.#ofOthers.set(provider, counters);
		}
		return counters;
	}

	/** Returns a label from sets that clients cannot extend: a dated name has the label of its model in the price list. */
	#labelOf(provider: string, model: string): string | undefined {
		if (this.#configured.has(`${provider}/${model}`)) return model;
		const kind = this.#kinds.get(provider);
		if (kind === undefined) return undefined;
		const priced = this.#deps.prices.priceOf({ name: provider, kind }, model, this.#deps.nowMs());
		return priced?.overrides ?? this.#deps.prices.listedModel(kind, model);
	}

	#countersOfTeam(id: string): TeamCounters {
		const team = this.#deps.isRegistered(id) ? id : 'other';
		let counters = this.#ofTeams.get(team);
		if (counters === undefined) {
			counters = teamCounters(this.#metrics, team);
			if (this.#ofTeams.size >= maxCached) this.#ofTeams.clear();
			this.#ofTeams.set(team, counters);
		}
		return counters;
	}
}

const ofModel = ['provider', 'model'];

function declareModelCounters(metrics: Metrics) {
	return {
		tokens: metrics.counter(
			'tollgate_tokens_total',
			'Tokens of completed requests; the kinds `input`, `cache_read`, `cache_write` and `output` do not overlap.',
			[...ofModel, 'kind'],
		),
		reasoning: metrics.counter('tollgate_reasoning_tokens_total', 'Reasoning tokens (part of output tokens).', ofModel),
		cost: metrics.counter('tollgate_cost_usd_total', 'Cost of completed requests in US dollars, as in the ledger.', ofModel),
		estimated: metrics.counter(
			'tollgate_estimated_requests_total',
			'Requests whose usage was estimated because the provider did not report it.',
			ofModel,
		),
		upstream: metrics.histogram(
			'tollgate_upstream_duration_seconds',
			'Time from sending a request to the provider to the end of its response, streams included.',
			upstreamBuckets,
			ofModel,
		),
	};
}

function modelCounters(metrics: Metrics, provider: string, model: string): ModelCounters {
	const { tokens, reasoning, cost, estimated, upstream } = declareModelCounters(metrics);
	const labels = { provider, model };
	return {
		input: tokens.of({ ...labels, kind: 'input' }),
		cacheRead: tokens.of({ ...labels, kind: 'cache_read' }),
		cacheWrite: tokens.of({ ...labels, kind: 'cache_write' }),
		output: tokens.of({ ...labels, kind: 'output' }),
		reasoning: reasoning.of(labels),
		costUsd: cost.of(labels),
		estimated: estimated.of(labels),
		upstream: upstream.of(labels),
	};
}

function declareTeamCounters(metrics: Metrics) {
	const registered = 'With `metrics.team_label`; teams that are not registered are `other`.';
	return {
		requests: metrics.counter('tollgate_team_requests_total', `Completed requests by team. ${registered}`, ['team']),
		tokens: metrics.counter('tollgate_team_tokens_total', `Tokens of completed requests by team. ${registered}`, ['team']),
		cost: metrics.counter('tollgate_team_cost_usd_total', `Cost of completed requests in US dollars, by team. ${registered}`, ['team']),
	};
}

function teamCounters(metrics: Metrics, team: string): TeamCounters {
	const { requests, tokens, cost } = declareTeamCounters(metrics);
	return { requests: requests.of({ team }), tokens: tokens.of({ team }), costUsd: cost.of({ team }) };
}
