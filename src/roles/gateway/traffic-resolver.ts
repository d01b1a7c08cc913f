import type { Clock } from '../../core/clock.ts';
import type { HttpResponse } from '../../core/handler.ts';
import { type ProviderReport, rateLimitKinds } from '../../core/health-report.ts';
import type { Log } from '../../core/log.ts';
import type { Metrics, Sample } from '../../core/metrics.ts';
import { type AttemptResult, reportsHealth } from '../../policy/resilience/attempt-result.ts';
import { ProviderHealth } from '../../policy/resilience/provider-health.ts';
import { RetryBudget } from '../../policy/resilience/retries.ts';
import type { TrafficSettings } from '../../policy/resilience/traffic-settings.ts';
import type { RateLimitFields } from '../../wire/providers/protocol.ts';
import { ConcurrencyLimiter } from './concurrency-limiter.ts';
import { ProviderRateLimits } from './provider-rate-limits.ts';

export interface TrafficPorts {
	readonly clock: Clock;
	readonly log: Log;
	readonly metrics: Metrics;
	/** Returns a uniform random number in [0, 1). */
	readonly chance: () => number;
	/** Called when a provider is ejected, when it is back, and after its first success. Ignored by default. */
	readonly onHealth?: (provider: string, change: HealthChange) => void;
}

export type HealthChange = { readonly state: 'ejected'; readonly detail: string } | { readonly state: 'recovered' | 'first_success' };

/** State of one provider, derived from its requests. It outlives configurations. */
export class ProviderTraffic {
	readonly name: string;
	readonly concurrency = new ConcurrencyLimiter();
	readonly health = new ProviderHealth();
	readonly retryBudget = new RetryBudget();
	readonly rateLimits = new ProviderRateLimits();
	retries = 0;
	/** Number of requests that failed over to the next target. */
	fallbacks = 0;
	ejections = 0;
	/** Number of requests that use another target first, because a rate limit of the provider is nearly exhausted. */
	steered = 0;
	readonly #ports: TrafficPorts;

	constructor(name: string, ports: TrafficPorts) {
		this.name = name;
		this.#ports = ports;
	}

	get chance(): () => number {
		return this.#ports.chance;
	}

	canTakeRequest(): boolean {
		return !this.health.isEjected || this.health.takeDiscoveryTurn(this.#ports.clock.monotonicMs(), this.chance);
	}

	/** Returns true while the provider would probably reject requests for the model with a 429. */
	isRateLimited(model: string): boolean {
		return this.rateLimits.isExhausted(model, this.#ports.clock.monotonicMs());
	}

	/** Records the rate limits that a response reports. @param sentMs time at which the request was sent, by the monotonic clock. */
	noteRateLimits(model: string, fields: readonly RateLimitFields[], response: HttpResponse, sentMs: number): void {
		if (fields.length === 0 && response.status !== 429) return;
		this.rateLimits.note(model, fields, response, sentMs, this.#ports.clock);
	}

	/** Records the result of an attempt. */
	note(result: AttemptResult, { ejectAfterFailures }: TrafficSettings): void {
		const reported = reportsHealth(result);
		if (reported === undefined) return;
		const { clock, log, onHealth } = this.#ports;
		if (reported === 'well') {
			const isFirst = !this.health.isKnown;
			if (this.health.succeeded(clock.nowMs())) {
				log.info('provider back in rotation', { provider: this.name });
				onHealth?.(this.name, { state: 'recovered' });
			} else if (isFirst) {
				onHealth?.(this.name, { state: 'first_success' });
			}
			return;
		}
		const detail = typeof result === 'number' ? `returned ${result}` : result.message;
		const now = { unixMs: clock.nowMs(), monotonicMs: clock.monotonicMs() };
		if (!this.health.failed(detail, ejectAfterFailures, now, this.chance)) return;
		this.ejections++;
		log.warn('provider ejected: requests fail over to other targets where there are any', { provider: this.name, detail });
		onHealth?.(this.name, { state: 'ejected', detail });
	}
}

/** Traffic state by provider; one instance per process. */
export class TrafficResolver {
	readonly #ports: TrafficPorts;
	readonly #byName = new Map<string, ProviderTraffic>();

	constructor(ports: TrafficPorts) {
		this.#ports = ports;
		const { metrics } = ports;
		const declare = (kind: 'gauge' | 'total', name: string, help: string, read: (traffic: ProviderTraffic) => number): void => {
			const samples = () => [...this.#byName.values()].map((traffic) => ({ labels: { provider: traffic.name }, value: read(traffic) }));
			metrics[kind](name, help, samples, ['provider']);
		};
		declare('gauge', 'tollgate_provider_ejected', '1 while the provider is ejected.', ({ health }) => Number(health.isEjected));
		declare(
			'gauge',
			'tollgate_provider_requests_in_flight',
			'In-flight requests at the provider.',
			({ concurrency }) => concurrency.inFlight,
		);
		declare(
			'gauge',
			'tollgate_provider_requests_queued',
			'Requests queued for a slot of the provider.',
			({ concurrency }) => concurrency.queued,
		);
		declare(
			'gauge',
			'tollgate_provider_rate_limited_models',
			'Models whose rate limit at the provider is nearly exhausted. Requests use other targets first.',
			({ rateLimits }) => rateLimits.countExhausted(ports.clock.monotonicMs()),
		);
		declare(
			'total',
			'tollgate_provider_steered_requests_total',
			'Requests that used another target first, because a rate limit of the provider was nearly exhausted.',
			({ steered }) => steered,
		);
		metrics.gauge(
			'tollgate_provider_rate_limit_remaining_ratio',
			'Remaining share of the rate limit that the provider reports, from 0 to 1; of several models the smallest.',
			() => [...this.#byName.values()].flatMap((traffic) => remainingSamples(traffic, ports.clock.nowMs())),
			['provider', 'kind'],
		);
		declare('total', 'tollgate_provider_ejections_total', 'Ejections of the provider.', ({ ejections }) => ejections);
		declare('total', 'tollgate_provider_retries_total', 'Retries of requests to the provider.', ({ retries }) => retries);
		declare('total', 'tollgate_provider_failovers_total', 'Failovers from the provider to another target.', ({ fallbacks }) => fallbacks);
	}

	of(name: string): ProviderTraffic {
		let traffic = this.#byName.get(name);
		if (traffic === undefined) {
			traffic = new ProviderTraffic(name, this.#ports);
			this.#byName.set(name, traffic);
		}
		return traffic;
	}

	report(): ProviderReport {
		const nowMs = this.#ports.clock.nowMs();
		return Object.fromEntries(
			[...this.#byName].map(([name, { health, rateLimits }]) => {
				const limits = rateLimits.report(nowMs);
				return [name, limits.length === 0 ? health.report() : { ...health.report(), rateLimits: limits }];
			}),
		);
	}
}

/** A limit that was reset since its report is complete. */
function remainingSamples({ name, rateLimits }: ProviderTraffic, nowMs: number): Sample[] {
	const reported = rateLimits.report(nowMs);
	return rateLimitKinds.flatMap((kind) => {
		const shares = reported.flatMap(({ kind: ofKind, limit, remaining, resetsAtMs }) => {
			if (ofKind !== kind || limit === null || limit === 0) return [];
			return [resetsAtMs !== null && resetsAtMs <= nowMs ? 1 : Math.min(1, remaining / limit)];
		});
		return shares.length === 0 ? [] : [{ labels: { provider: name, kind }, value: Math.min(...shares) }];
	});
}
