/**
 * Figures that are scraped. A part declares its own once, when it is made. Label values come from closed sets
 * (providers, outcomes, rules), never from what a caller wrote: each new value costs memory for ever.
 */
export interface Metrics {
	/** @param name in full, such as `tollgate_budget_warnings_total`. The same declaration twice gives the same counter. */
	counter(name: string, help: string, labels?: readonly string[]): Counter;
	/** @param buckets upper bounds, in the unit that ends the name. */
	histogram(name: string, help: string, buckets: readonly number[], labels?: readonly string[]): Histogram;
	/** @param read is asked at each scrape, and is to be quick. */
	gauge(name: string, help: string, read: () => number | readonly Sample[], labels?: readonly string[]): void;
}

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
	readonly labels: Labels;
	readonly value: number;
}

export interface Counter {
	add(by?: number, labels?: Labels): void;
}

export interface Histogram {
	observe(value: number, labels?: Labels): void;
}

/** For parts whose figures nobody reads. */
export const noMetrics: Metrics = {
	counter: () => ({ add: () => undefined }),
	histogram: () => ({ observe: () => undefined }),
	gauge: () => undefined,
};
