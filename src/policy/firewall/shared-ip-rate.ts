/** Rate window of a process that shares its counts with others. Requests never wait: counts are exchanged in the background. */
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { IpRateWindow } from './ip-rate-window.ts';
import type { SourceKey } from './source-key.ts';

/**
 * Adds to the counts of all processes, and returns each source's sum over the window, in the order of the argument. Rejects when the store
 * is unavailable.
 */
export type ExchangeCounts = (counts: readonly SourceCount[]) => Promise<readonly number[]>;

export interface SourceCount {
	/** Source as a key. */
	readonly source: string;
	/** Requests since the last exchange; 0 only reads the sum. */
	readonly requests: number;
}

/** Maximum sources in one exchange. Others wait for the next one, which begins when this one is over. */
const maxConcurrency = 500;

/** Maximum waiting sources. Other sources are not reported for now, but still counted here. */
const maxWaiting = 10_000;

/** Pause after a failed exchange. */
const restMs = 1000;

export class SharedIpRate {
	readonly #window: IpRateWindow;
	readonly #exchange: ExchangeCounts;
	readonly #clock: Pick<Clock, 'monotonicMs'>;
	readonly #log: Log;
	readonly #waiting = new Map<string, SourceKey>();
	#isExchanging = false;
	#restsUntilMs = 0;
	#failures = 0;

	constructor(window: IpRateWindow, exchange: ExchangeCounts, { clock, log }: { clock: Pick<Clock, 'monotonicMs'>; log: Log }) {
		this.#window = window;
		this.#exchange = exchange;
		this.#clock = clock;
		this.#log = log;
	}

	/** Decides as `IpRateWindow.admit`. */
	admit(source: SourceKey, nowMs: number): boolean {
		const isAdmitted = this.#window.admit(source, nowMs);
		if (nowMs >= this.#restsUntilMs && this.#window.hasNews(source, nowMs)) this.#queue(source);
		return isAdmitted;
	}

	#queue(source: SourceKey): void {
		if (this.#waiting.size >= maxWaiting) return;
		this.#waiting.set(nameOf(source), source);
		if (this.#isExchanging) return;
		this.#isExchanging = true;
		// Requests of the same turn of the event loop share an exchange.
		queueMicrotask(() => void this.#exchangeAll());
	}

	async #exchangeAll(): Promise<void> {
		try {
			while (this.#waiting.size > 0) await this.#exchangeSome();
			if (this.#failures > 0) this.#log.info('per-source rates are shared between processes again', { failures: this.#failures });
			this.#failures = 0;
		} catch (cause) {
			// The counts may have arrived despite the failure, so they are not reported again.
			this.#waiting.clear();
			this.#restsUntilMs = this.#clock.monotonicMs() + restMs;
			if (this.#failures++ === 0) this.#log.warn('per-source rates are counted per process', { cause });
		} finally {
			this.#isExchanging = false;
		}
	}

	async #exchangeSome(): Promise<void> {
		const some = [...this.#waiting].slice(0, maxConcurrency);
		for (const [name] of some) this.#waiting.delete(name);
		const totals = await this.#exchange(some.map(([name, source]) => ({ source: name, requests: this.#window.tell(source) })));
		const nowMs = this.#clock.monotonicMs();
		for (const [index, [, source]] of some.entries()) this.#window.hear(source, totals[index] ?? 0, nowMs);
	}
}

function nameOf({ high, low }: SourceKey): string {
	return `${high.toString(16)}.${low.toString(16)}`;
}
