import type { Log } from '../../core/log.ts';
import type { Counter, Metrics } from '../../core/metrics.ts';
import type { RuleMatch } from './rules/rule-set.ts';

/** One line a rule in so long; what comes between is only counted. */
const quietMs = 1000;

/** Tells what rules matched: each match as a figure, some as log lines. Never what they matched. */
export class MatchReport {
	readonly #matches: Counter;
	readonly #log: Log;
	/** By rule; rules are few. */
	readonly #lastLines = new Map<string, { atMs: number; leftOut: number }>();

	constructor(metrics: Metrics, log: Log) {
		this.#log = log;
		this.#matches = metrics.counter('tollgate_firewall_matches_total', 'Requests that matched a firewall rule.', ['rule', 'action']);
	}

	/** @param nowMs monotonic. */
	tell(requestId: string, { rule, part, action }: RuleMatch, nowMs: number): void {
		this.#matches.add(1, { rule, action });
		const last = this.#lastLines.get(rule);
		if (last !== undefined && nowMs - last.atMs < quietMs) {
			last.leftOut++;
			return;
		}
		this.#log.info('firewall rule matched', { requestId, rule, part, action, leftOut: last?.leftOut ?? 0 });
		this.#lastLines.set(rule, { atMs: nowMs, leftOut: 0 });
	}
}
