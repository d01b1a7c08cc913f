/** Combines the rate limits of a tier and a team into the counters of a request. */
import { type CounterReading, countOf, isCountedAlways, type RateKind, type RateLimit } from '../../core/counters.ts';
import { isInModels, type NamedModel } from '../../core/model-scope.ts';
import type { TeamLimits } from '../../core/team.ts';

/** Rate limits of a tier. `null` is unlimited. */
export interface RateSettings extends TeamLimits {
	readonly requestsPerMinute: number | null;
	readonly dailyTokens: number | null;
}

export interface RateTerms {
	/** Limits that the counters enforce, and counters without a limit that only monitored limits need. */
	readonly limits: readonly RateLimit[];
	/** Limits that are decided and recorded, and reject nothing. */
	readonly monitored: readonly RateLimit[];
}

const none: readonly RateLimit[] = [];

/** Limits of teams that are limited by nothing. */
export const noRateTerms: RateTerms = { limits: none, monitored: none };

/**
 * Returns the terms of a team in a tier. An enforced limit of the team replaces the tier's. A monitored one leaves the tier's in force.
 * @param own undefined for a team without limits of its own.
 */
export function resolveRates(tier: TeamLimits, own: TeamLimits | undefined): RateTerms {
	const enforced = new Map<string, RateLimit>();
	const monitored = new Map<string, RateLimit>();
	for (const layer of own === undefined ? [tier] : [tier, own]) {
		for (const limit of limitsOf(layer)) {
			const name = `${limit.kind} ${limit.models ?? ''}`;
			if (layer.mode === 'monitor') {
				monitored.set(name, limit);
				continue;
			}
			enforced.set(name, limit);
			monitored.delete(name);
		}
	}
	const tried = [...monitored.values()].filter(({ limit }) => limit !== null);
	const limits = [...enforced.values()].filter(({ limit }) => limit !== null);
	// Every request of a team counts in some counters; others exist only where a limit needs them.
	const counted = tried.filter((limit) => !isCountedAlways(limit) && !limits.some((one) => isSameCounter(one, limit)));
	const all = [...limits, ...counted.map((limit): RateLimit => ({ ...limit, limit: null }))];
	if (all.length === 0 && tried.length === 0) return noRateTerms;
	return { limits: all.toSorted((one, other) => orderOf(one) - orderOf(other)), monitored: tried };
}

/** Returns the terms of a request to a model, without the limits of other models. */
export function ratesForModel(terms: RateTerms, model: NamedModel): RateTerms {
	if (!terms.limits.some(({ models }) => models !== undefined)) return terms;
	const applies = ({ models }: RateLimit): boolean => models === undefined || isInModels(models, model);
	return { limits: terms.limits.filter(applies), monitored: terms.monitored.filter(applies) };
}

/** Returns a limit of all models; null: there is none. */
export function limitOf(limits: readonly RateLimit[], kind: RateKind): number | null {
	for (const limit of limits) if (limit.kind === kind && limit.models === undefined) return limit.limit;
	return null;
}

/**
 * Returns the monitored limits that would have rejected an admitted request.
 * @param reading after the admission, which includes the request. @param reservedTokens of the request.
 */
export function monitoredRates(monitored: readonly RateLimit[], reading: CounterReading, reservedTokens: number): readonly RateLimit[] {
	return monitored.filter((limit) => {
		const { used, reserved } = countOf(reading, limit);
		const own = limit.kind === 'rpm' || limit.kind === 'concurrent_requests' ? 1 : reservedTokens;
		return used + reserved - own >= (limit.limit ?? Number.POSITIVE_INFINITY);
	});
}

const order: readonly RateKind[] = ['rpm', 'daily_tokens', 'tpm', 'concurrent_requests'];

/** Limits of all models come before those of some. */
function orderOf({ kind, models }: RateLimit): number {
	return order.indexOf(kind) + (models === undefined ? 0 : order.length);
}

function isSameCounter(one: RateLimit, other: RateLimit): boolean {
	return one.kind === other.kind && one.models === other.models;
}

function limitsOf({ requestsPerMinute, dailyTokens, tokensPerMinute, concurrentRequests, models = {} }: TeamLimits): RateLimit[] {
	const limits: RateLimit[] = [];
	const add = (kind: RateKind, limit: number | null | undefined, pattern?: string): void => {
		if (limit !== undefined) limits.push(pattern === undefined ? { kind, limit } : { kind, models: pattern, limit });
	};
	add('rpm', requestsPerMinute);
	add('daily_tokens', dailyTokens);
	add('tpm', tokensPerMinute);
	add('concurrent_requests', concurrentRequests);
	for (const [pattern, { requestsPerMinute: rpm, tokensPerMinute: tpm }] of Object.entries(models)) {
		add('rpm', rpm, pattern);
		add('tpm', tpm, pattern);
	}
	return limits;
}
