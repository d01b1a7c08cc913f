/**
 * Figures that are scraped. A part declares its own once, when it is made. Label values come from closed sets
 * (providers, outcomes, rules), never from what a caller wrote: each new value costs memory for ever.
 */
export interface Metrics {
	/** @param name in full, such as `tollgate_budget_warnings_total`. The same declaration twice gives the same counter. */
	counter(name: string, help: string, labels?: readonly string[]): Counter;
	/** @param buckets upper bounds, in the unit that ends the name. */
	histogram(name: string, help: string, buckets: readonly number[], labels?: readonly string[]): Histogram;
	/** @param read is asked at each scrape, and is to be quick. Declared again, the later one is asked. */
	gauge(name: string, help: string, read: () => number | readonly Sample[], labels?: readonly string[]): void;
	/** A counter that its part keeps itself, read as a gauge is. It never falls while the process lives. */
	total(name: string, help: string, read: () => number | readonly Sample[], labels?: readonly string[]): void;
}

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
	readonly labels: Labels;
	readonly value: number;
}

export interface Counter {
	add(by?: number, labels?: Labels): void;
	/** The counter of one set of labels, for those who count often: finding it costs more than counting. It shows at once, at 0. */
	of(labels: Labels): { add(by?: number): void };
}

export interface Histogram {
	observe(value: number, labels?: Labels): void;
	/** As `Counter.of`. */
	of(labels: Labels): { observe(value: number): void };
}

/** For parts whose figures nobody reads. */
export const noMetrics: Metrics = {
	counter: () => ({ add: () => undefined, of: () => ({ add: () => undefined }) }),
	histogram: () => ({ observe: () => undefined, of: () => ({ observe: () => undefined }) }),
	gauge: () => undefined,
	total: () => undefined,
};
