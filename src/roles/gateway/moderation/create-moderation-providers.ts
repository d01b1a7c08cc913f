/** External moderation providers: limited in time and concurrency, metered, and never the cause of an accidental request failure. */
import type { Clock, Timer } from '../../../core/clock.ts';
import type { Log } from '../../../core/log.ts';
import type { Counter, Histogram, Metrics } from '../../../core/metrics.ts';
import type { Upstream } from '../../../core/upstream.ts';
import type { ModerationFinding, ModerationResponse, ModerationStage, ModerationUsage } from '../../../wire/moderation/moderation.ts';
import { moderationProtocol } from '../../../wire/moderation/moderation-protocols.ts';
import type { ModerationPrice, ModerationProviderSettings } from './moderation-settings.ts';
import {
	type ModerationEndpoint,
	type ModerationFailure,
	type ModerationProblem,
	sendToModerationProvider,
} from './send-to-moderation-provider.ts';

type ModerationResult = ModerationVerdict | ModerationFailed;

interface ModerationReport {
	/** Highest score of each category above the log threshold. After a failure, findings of the requests that succeeded. */
	readonly findings: readonly ScoredFinding[];
	readonly usage: ModerationUsage;
	/** Undefined if the price is unknown. */
	readonly costNanoUsd: bigint | undefined;
}

interface ScoredFinding extends ModerationFinding {
	/** True if the score reaches the block threshold; otherwise it is only reported. */
	readonly isSure: boolean;
}

interface ModerationVerdict extends ModerationReport {
	readonly outcome: 'evaluated';
}

interface ModerationFailed extends ModerationReport {
	readonly outcome: 'failed';
	readonly failure: ModerationFailure;
	/** True to fail closed: under enforcement, the request is blocked. */
	readonly isBlocking: boolean;
}

export interface ModerationProvider extends Pick<ModerationProviderSettings, 'name' | 'action'> {
	/** Evaluates the texts of one request together, within the timeout. Rejects only for internal errors. */
	judge(texts: readonly string[], stage: ModerationStage, requested: ModerationContext): Promise<ModerationResult>;
}

/** Request that needs the evaluation. */
export interface ModerationContext {
	readonly requestId: string;
	readonly team: string;
	/** Registers a listener that ends the evaluation when its client disconnects. */
	readonly onClientDisconnect?: (listener: () => void) => void;
}

export interface ModerationPorts {
	readonly upstream: Upstream;
	readonly clock: Clock;
	readonly log: Log;
	readonly metrics: Metrics;
}

/** Maximum number of requests for one evaluation; longer texts are not evaluated. */
const maxRequests = 16;
/** Maximum queue length per slot. */
const maxWaitingPerSlot = 8;

const noModerationUsage: ModerationUsage = { inputTokens: 0, outputTokens: 0, units: 0 };

export function createModerationProviders(
	settings: readonly ModerationProviderSettings[],
	ports: ModerationPorts,
): readonly ModerationProvider[] {
	const counts = new ModerationMetrics(ports.metrics);
	return settings.map((one) => createModerationProvider(one, ports, counts));
}

function createModerationProvider(
	settings: ModerationProviderSettings,
	{ upstream, clock, log }: ModerationPorts,
	counts: ModerationMetrics,
): ModerationProvider {
	const { name, action, timeoutMs, maxConcurrent, onFailure } = settings;
	const slot: ModerationEndpoint = { settings, protocol: moderationProtocol(settings.protocol), upstream, clock };
	const places = new Semaphore(clock, maxConcurrent, maxConcurrent * maxWaitingPerSlot);

	const conclude = (
		judgement: ModerationResult,
		{ requestId, team }: ModerationContext,
		startedMs: number,
		status?: number,
	): ModerationResult => {
		const durationMs = clock.monotonicMs() - startedMs;
		counts.add(name, judgement, durationMs);
		const { usage, costNanoUsd } = judgement;
		const cost = costNanoUsd === undefined ? null : String(costNanoUsd);
		const fields = { requestId, team, moderation_provider: name, ...usage, cost_nano_usd: cost, duration_ms: Math.round(durationMs) };
		if (judgement.outcome === 'evaluated') log.debug('moderation provider evaluated', fields);
		else if (judgement.failure !== 'abandoned') {
			log.warn('moderation provider failed', {
				...fields,
				reason: judgement.failure,
				on_failure: onFailure,
				...(status !== undefined && { status }),
			});
		}
		return judgement;
	};

	return {
		name,
		action,
		async judge(texts, stage, requested) {
			const { onClientDisconnect = () => undefined } = requested;
			const startedMs = clock.monotonicMs();
			const dueMs = startedMs + timeoutMs;
			const requests = slot.protocol.requestsFor(texts, stage);
			if (requests.length > maxRequests) return conclude(reportOf([{ failure: 'too_large' }], settings), requested, startedMs);
			const responses = await Promise.all(
				requests.map(async (request) => {
					if (!(await places.acquire(dueMs - clock.monotonicMs()))) return { failure: 'busy' } as const;
					try {
						const remainingMs = dueMs - clock.monotonicMs();
						if (remainingMs < 1) return { failure: 'busy' } as const;
						return await sendToModerationProvider(slot, request, remainingMs, onClientDisconnect);
					} finally {
						places.release();
					}
				}),
			);
			return conclude(reportOf(responses, settings), requested, startedMs, responses.find(isProblem)?.status);
		},
	};
}

function reportOf(
	responses: readonly (ModerationResponse | ModerationProblem)[],
	{ onFailure, price, thresholds }: ModerationProviderSettings,
): ModerationResult {
	const good = responses.filter((response): response is ModerationResponse => !isProblem(response));
	const usage = sumUsage(good.map((response) => response.usage));
	const report = {
		findings: noted(
			good.flatMap(({ findings }) => findings),
			thresholds,
		),
		usage,
		costNanoUsd: costOf(usage, price),
	};
	const problem = responses.find(isProblem);
	if (problem === undefined) return { outcome: 'evaluated', ...report };
	return { outcome: 'failed', failure: problem.failure, isBlocking: onFailure === 'closed', ...report };
}

function isProblem(response: ModerationResponse | ModerationProblem): response is ModerationProblem {
	return 'failure' in response;
}

function noted(findings: readonly ModerationFinding[], { log, block }: ModerationProviderSettings['thresholds']): ScoredFinding[] {
	const byCategory = new Map<string, ScoredFinding>();
	for (const finding of findings) {
		const known = byCategory.get(finding.category);
		if (finding.score < log || finding.score <= (known?.score ?? 0)) continue;
		byCategory.set(finding.category, { ...finding, isSure: finding.score >= block });
	}
	return [...byCategory.values()];
}

function sumUsage(usages: readonly ModerationUsage[]): ModerationUsage {
	return usages.reduce(
		(sum, usage) => ({
			inputTokens: sum.inputTokens + usage.inputTokens,
			outputTokens: sum.outputTokens + usage.outputTokens,
			units: sum.units + usage.units,
		}),
		noModerationUsage,
	);
}

/** Computes the cost, rounded up. @returns undefined if usage was charged at an unknown price. */
function costOf(usage: ModerationUsage, price: ModerationPrice | undefined): bigint | undefined {
	if (usage.inputTokens + usage.outputTokens + usage.units === 0) return 0n;
	if (price === undefined) return undefined;
	const { inputPicoUsd, outputPicoUsd, thousandUnitsNanoUsd } = price;
	const picoUsd =
		BigInt(usage.inputTokens) * inputPicoUsd + BigInt(usage.outputTokens) * outputPicoUsd + BigInt(usage.units) * thousandUnitsNanoUsd;
	return (picoUsd + 999n) / 1000n;
}

const nanoUsdPerUsd = 1e9;

/** Metrics of evaluations and their cost, by moderation provider. */
class ModerationMetrics {
	readonly #judgements: Counter;
	readonly #seconds: Histogram;
	readonly #usage: Counter;
	readonly #costUsd: Counter;
	readonly #unpriced: Counter;

	constructor(metrics: Metrics) {
		this.#judgements = metrics.counter(
			'tollgate_moderation_evaluations_total',
			'Evaluations by moderation providers, by outcome: `evaluated` or the reason of failure.',
			['moderation_provider', 'outcome'],
		);
		this.#seconds = metrics.histogram(
			'tollgate_moderation_duration_seconds',
			'Duration of an evaluation.',
			[0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2],
			['moderation_provider'],
		);
		this.#usage = metrics.counter('tollgate_moderation_usage_total', 'Billable units of moderation providers.', [
			'moderation_provider',
			'unit',
		]);
		this.#costUsd = metrics.counter(
			'tollgate_moderation_cost_usd_total',
			'Cost of moderation providers in US dollars, where the price is known.',
			['moderation_provider'],
		);
		this.#unpriced = metrics.counter('tollgate_moderation_unpriced_total', 'Billable evaluations without a known price.', [
			'moderation_provider',
		]);
	}

	add(moderationProvider: string, judgement: ModerationResult, durationMs: number): void {
		this.#judgements.add(1, {
			moderation_provider: moderationProvider,
			outcome: judgement.outcome === 'failed' ? judgement.failure : judgement.outcome,
		});
		this.#seconds.observe(durationMs / 1000, { moderation_provider: moderationProvider });
		const { usage, costNanoUsd } = judgement;
		if (usage.inputTokens > 0) this.#usage.add(usage.inputTokens, { moderation_provider: moderationProvider, unit: 'input_tokens' });
		if (usage.outputTokens > 0) this.#usage.add(usage.outputTokens, { moderation_provider: moderationProvider, unit: 'output_tokens' });
		if (usage.units > 0) this.#usage.add(usage.units, { moderation_provider: moderationProvider, unit: 'units' });
		if (costNanoUsd === undefined) this.#unpriced.add(1, { moderation_provider: moderationProvider });
		else if (costNanoUsd > 0n) this.#costUsd.add(Number(costNanoUsd) / nanoUsdPerUsd, { moderation_provider: moderationProvider });
	}
}

interface Waiting {
	readonly begin: () => void;
	readonly timer: Timer;
}

/** Concurrency limit with a bounded first-in, first-out queue and a maximum wait. */
class Semaphore {
	readonly #clock: Clock;
	readonly #maxWaiting: number;
	readonly #waiting = new Set<Waiting>();
	#free: number;

	constructor(clock: Clock, count: number, maxWaiting: number) {
		this.#clock = clock;
		this.#free = count;
		this.#maxWaiting = maxWaiting;
	}

	/** @returns true if a slot was free in time; release it with `release`. */
	acquire(maxMs: number): Promise<boolean> {
		if (this.#free > 0) {
			this.#free--;
			return Promise.resolve(true);
		}
		if (this.#waiting.size >= this.#maxWaiting || maxMs <= 0) return Promise.resolve(false);
		return new Promise((resolve) => {
			const waiting: Waiting = {
				begin: () => resolve(true),
				timer: this.#clock.after(maxMs, () => {
					this.#waiting.delete(waiting);
					resolve(false);
				}),
			};
			this.#waiting.add(waiting);
		});
	}

	release(): void {
		const [next] = this.#waiting;
		if (next === undefined) {
			this.#free++;
			return;
		}
		this.#waiting.delete(next);
		next.timer.cancel();
		next.begin();
	}
}
