/** The rate window of a process that shares its sources with others. Requests never wait: counts are exchanged beside them. */
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { IpRateWindow } from './ip-rate-window.ts';
import type { SourceKey } from './source-key.ts';

/** Adds to what all processes counted, and gives each source's sum over the window, in the order asked. Rejects when nobody can be asked. */
export type ExchangeCounts = (counts: readonly SourceCount[]) => Promise<readonly number[]>;

export interface SourceCount {
	/** The source, spelled as a key. */
	readonly source: string;
	/** Requests since the last time; 0 only asks. */
	readonly requests: number;
}

/** Sources in one exchange. More wait for the next one, which begins when this one is over. */
const mostAtOnce = 500;

/** Sources that wait. Of others nothing is told for now: they are counted here as always. */
const mostWaiting = 10_000;

/** After a failure nobody is asked for so long. */
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

	/** As `IpRateWindow.admit`. */
	admit(source: SourceKey, nowMs: number): boolean {
		const isAdmitted = this.#window.admit(source, nowMs);
		if (nowMs >= this.#restsUntilMs && this.#window.hasNews(source, nowMs)) this.#queue(source);
		return isAdmitted;
	}

	#queue(source: SourceKey): void {
		if (this.#waiting.size >= mostWaiting) return;
		this.#waiting.set(nameOf(source), source);
		if (this.#isExchanging) return;
		this.#isExchanging = true;
		// What comes in the same turn goes along.
		queueMicrotask(() => void this.#exchangeAll());
	}

	async #exchangeAll(): Promise<void> {
		try {
			while (this.#waiting.size > 0) await this.#exchangeSome();
			if (this.#failures > 0) this.#log.info('per-source rates are shared between processes again', { failures: this.#failures });
			this.#failures = 0;
		} catch (cause) {
			// What was told may have arrived: it is not told again.
			this.#waiting.clear();
			this.#restsUntilMs = this.#clock.monotonicMs() + restMs;
			if (this.#failures++ === 0) this.#log.warn('per-source rates are counted per process', { cause });
		} finally {
			this.#isExchanging = false;
		}
	}

	async #exchangeSome(): Promise<void> {
		const some = [...this.#waiting].slice(0, mostAtOnce);
		for (const [name] of some) this.#waiting.delete(name);
		const totals = await this.#exchange(some.map(([name, source]) => ({ source: name, requests: this.#window.tell(source) })));
		const nowMs = this.#clock.monotonicMs();
		for (const [index, [, source]] of some.entries()) this.#window.hear(source, totals[index] ?? 0, nowMs);
	}
}

function nameOf({ high, low }: SourceKey): string {
	return `${high.toString(16)}.${low.toString(16)}`;
}
