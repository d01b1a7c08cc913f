import type { Counter, Histogram, Metrics } from '../../../core/metrics.ts';
import type { EngineJudgement } from './engine-judgement.ts';

const nanoUsdPerUsd = 1e9;

/** What engines did and what they cost, by engine. */
export class EngineCounts {
	readonly #judgements: Counter;
	readonly #seconds: Histogram;
	readonly #usage: Counter;
	readonly #costUsd: Counter;
	readonly #unpriced: Counter;

	constructor(metrics: Metrics) {
		this.#judgements = metrics.counter(
			'tollgate_guardrail_engine_judgements_total',
			'Judgements asked of guardrail engines, by outcome: judged, or why not',
			['engine', 'outcome'],
		);
		this.#seconds = metrics.histogram(
			'tollgate_guardrail_engine_seconds',
			'Time that a judgement took',
			[0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2],
			['engine'],
		);
		this.#usage = metrics.counter('tollgate_guardrail_engine_usage_total', 'What guardrail engines charge for', ['engine', 'unit']);
		this.#costUsd = metrics.counter(
			'tollgate_guardrail_engine_cost_usd_total',
			'US dollars that guardrail engines cost, where their price is known',
			['engine'],
		);
		this.#unpriced = metrics.counter(
			'tollgate_guardrail_engine_unpriced_total',
			'Judgements that were charged for at a price that is not known',
			['engine'],
		);
	}

	add(engine: string, judgement: EngineJudgement, durationMs: number): void {
		this.#judgements.add(1, { engine, outcome: judgement.outcome === 'judged' ? 'judged' : judgement.failure });
		this.#seconds.observe(durationMs / 1000, { engine });
		const { usage, costNanoUsd } = judgement;
		if (usage.inputTokens > 0) this.#usage.add(usage.inputTokens, { engine, unit: 'input_tokens' });
		if (usage.outputTokens > 0) this.#usage.add(usage.outputTokens, { engine, unit: 'output_tokens' });
		if (usage.units > 0) this.#usage.add(usage.units, { engine, unit: 'units' });
		if (costNanoUsd === undefined) this.#unpriced.add(1, { engine });
		else if (costNanoUsd > 0n) this.#costUsd.add(Number(costNanoUsd) / nanoUsdPerUsd, { engine });
	}
}
