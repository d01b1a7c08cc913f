/**
 * Metrics for scraping. A component declares its own once, when it is created. Label values come from closed sets (providers, outcomes,
 * rules), never from client input, because each new value costs memory for good.
 */
export interface Metrics {
	/** @param name full name, such as `tollgate_budget_warnings_total`. Declaring it again returns the same counter. */
	counter(name: string, help: string, labels?: readonly string[]): Counter;
	/** @param buckets upper bounds, in the unit that ends the name. */
	histogram(name: string, help: string, buckets: readonly number[], labels?: readonly string[]): Histogram;
	/** @param read is called at each scrape and must be quick. A later declaration replaces it. */
	gauge(name: string, help: string, read: () => number | readonly Sample[], labels?: readonly string[]): void;
	/** Counter that its component maintains itself, read like a gauge. It never decreases while the process runs. */
	total(name: string, help: string, read: () => number | readonly Sample[], labels?: readonly string[]): void;
}

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
	readonly labels: Labels;
	readonly value: number;
}

export interface Counter {
	add(by?: number, labels?: Labels): void;
	/**
	 * Returns the counter for one set of labels, for frequent use: the lookup costs more than the increment. It is exported at once, at 0.
	 */
	of(labels: Labels): { add(by?: number): void };
}

export interface Histogram {
	observe(value: number, labels?: Labels): void;
	/** Returns the histogram for one set of labels, like `Counter.of`. */
	of(labels: Labels): { observe(value: number): void };
}

/** Discards all metrics, for components that are not scraped. */
export const noMetrics: Metrics = {
	counter: () => ({ add: () => undefined, of: () => ({ add: () => undefined }) }),
	histogram: () => ({ observe: () => undefined, of: () => ({ observe: () => undefined }) }),
	gauge: () => undefined,
	total: () => undefined,
};
