/** Metrics in the Prometheus format. They are counted here, because prom-client computes a hash for each increment. */
import { type Metric, Registry } from 'prom-client';
import type { Counter, Histogram, Labels, Metrics, Sample } from '../core/metrics.ts';
import { processMetrics } from './process-metrics.ts';

export interface Exposition {
	readonly contentType: string;
	readonly text: string;
}

export interface ScrapedMetrics extends Metrics {
	scrape(): Promise<Exposition>;
	/** Metrics in the order of their names. */
	declared(): readonly DeclaredMetric[];
}

export interface DeclaredMetric {
	readonly name: string;
	readonly help: string;
	readonly type: 'counter' | 'gauge' | 'histogram';
	readonly labels: readonly string[];
}

/** Maximum number of series of a counter or gauge, and of a histogram, whose series have many lines each. */
const maxSeries = 1000;
const maxHistogramSeries = 200;

interface Line {
	readonly metricName?: string;
	readonly labels: Record<string, string | number>;
	readonly value: number;
}

interface Declared extends DeclaredMetric {
	lines(): Line[];
}

/** @param scrapeOthers returns the metrics of other processes, by worker, to merge with its own. */
export function createMetrics(scrapeOthers?: () => Promise<ReadonlyMap<string, string>>): ScrapedMetrics {
	const registry = new Registry();
	const declared = new Map<string, Declared>();

	/** @throws Error if the name is invalid or is used by another kind of metric. */
	function declare<D extends Declared>(make: new (about: About) => D, about: About): D {
		const before = declared.get(about.name);
		if (before !== undefined) {
			if (before instanceof make && before.labels.join() === about.labels.join()) return before;
			throw new Error(`Metric ${about.name} is declared twice, differently`);
		}
		checkNames(about);
		const metric = new make(about);
		declared.set(about.name, metric);
		registry.registerMetric(asRegistered(metric));
		return metric;
	}

	return {
		counter: (name, help, labels = []) => declare(CountedSeries, { name, help, type: 'counter', labels }),
		histogram: (name, help, buckets, labels = []) => declare(HistogramSeries, { name, help, type: 'histogram', labels, buckets }),
		gauge(name, help, read, labels = []) {
			declare(ReadSeries, { name, help, type: 'gauge', labels }).read = read;
		},
		total(name, help, read, labels = []) {
			declare(ReadSeries, { name, help, type: 'counter', labels }).read = read;
		},
		async scrape() {
			const [own, ofProcess, others] = await Promise.all([registry.metrics(), processMetrics().metrics(), scrapeOthers?.()]);
			const text = `${own}\n${ofProcess}`;
			const isAlone = others === undefined || others.size === 0;
			return { contentType: registry.contentType, text: isAlone ? text : mergeExpositions(new Map([['0', text], ...others])) };
		},
		declared: () =>
			[...declared.values()]
				.map(({ name, help, type, labels }) => ({ name, help, type, labels }))
				.toSorted((one, other) => (one.name < other.name ? -1 : 1)),
	};
}

interface About extends DeclaredMetric {
	readonly buckets?: readonly number[];
}

/** Cells by label values. Beyond the maximum, all further values share one cell whose every label is `other`, so that sums stay correct. */
class Series<Cell> {
	readonly cells = new Map<string, { readonly labels: Record<string, string>; readonly cell: Cell }>();
	private readonly names: readonly string[];
	private readonly max: number;
	private readonly newCell: () => Cell;

	constructor(names: readonly string[], max: number, newCell: () => Cell) {
		this.names = names;
		this.max = max;
		this.newCell = newCell;
	}

	at(labels: Labels): Cell {
		let key = '';
		for (const name of this.names) key += `${labels[name] ?? ''}\0`;
		const known = this.cells.get(key);
		if (known !== undefined) return known.cell;
		if (this.cells.size >= this.max) return this.rest();
		return this.add(key, (name) => labels[name] ?? '');
	}

	private rest(): Cell {
		const key = this.names.map(() => 'other\0').join('');
		return this.cells.get(key)?.cell ?? this.add(key, () => 'other');
	}

	private add(key: string, valueOf: (name: string) => string): Cell {
		const cell = this.newCell();
		this.cells.set(key, { labels: Object.fromEntries(this.names.map((name) => [name, valueOf(name)])), cell });
		return cell;
	}
}

class CountedCell {
	value = 0;

	add(by = 1): void {
		if (by > 0) this.value += by;
	}
}

abstract class AbstractSeries implements DeclaredMetric {
	readonly name: string;
	readonly help: string;
	readonly type: DeclaredMetric['type'];
	readonly labels: readonly string[];

	constructor({ name, help, type, labels }: About) {
		this.name = name;
		this.help = help;
		this.type = type;
		this.labels = labels;
	}
}

class CountedSeries extends AbstractSeries implements Declared, Counter {
	private readonly series: Series<CountedCell>;

	constructor(about: About) {
		super(about);
		this.series = new Series(about.labels, maxSeries, () => new CountedCell());
		// A rate needs a counter that was scraped before its first increment.
		if (about.labels.length === 0) this.series.at({});
	}

	add(by = 1, labels: Labels = {}): void {
		this.series.at(labels).add(by);
	}

	of(labels: Labels): CountedCell {
		return this.series.at(labels);
	}

	lines(): Line[] {
		return [...this.series.cells.values()].map(({ labels, cell }) => ({ labels, value: cell.value }));
	}
}

class HistogramCell {
	/** Count of each single bucket; the last is for values above all bounds. */
	readonly counts: number[];
	sum = 0;
	private readonly bounds: readonly number[];

	constructor(bounds: readonly number[]) {
		this.bounds = bounds;
		this.counts = Array.from({ length: bounds.length + 1 }, () => 0);
	}

	observe(value: number): void {
		if (!Number.isFinite(value)) return;
		const { bounds, counts } = this;
		let bucket = 0;
		while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket++;
		counts[bucket] = (counts[bucket] ?? 0) + 1;
		this.sum += value;
	}
}

class HistogramSeries extends AbstractSeries implements Declared, Histogram {
	private readonly bounds: readonly number[];
	private readonly series: Series<HistogramCell>;

	constructor(about: About) {
		super(about);
		const bounds = (about.buckets ?? []).toSorted((one, other) => one - other);
		this.bounds = bounds;
		this.series = new Series(about.labels, maxHistogramSeries, () => new HistogramCell(bounds));
	}

	observe(value: number, labels: Labels = {}): void {
		this.series.at(labels).observe(value);
	}

	of(labels: Labels): HistogramCell {
		return this.series.at(labels);
	}

	lines(): Line[] {
		return [...this.series.cells.values()].flatMap(({ labels, cell }) => {
			let count = 0;
			const buckets = cell.counts.map((ofBucket, index): Line => {
				count += ofBucket;
				return { metricName: `${this.name}_bucket`, labels: { ...labels, le: this.bounds[index] ?? '+Inf' }, value: count };
			});
			return [
				...buckets,
				{ metricName: `${this.name}_sum`, labels, value: cell.sum },
				{ metricName: `${this.name}_count`, labels, value: count },
			];
		});
	}
}

class ReadSeries extends AbstractSeries implements Declared {
	read: () => number | readonly Sample[] = () => [];

	lines(): Line[] {
		const read = this.readSafely();
		if (typeof read === 'number') return [{ labels: {}, value: read }];
		const series = new Series(this.labels, maxSeries, () => ({ value: 0 }));
		for (const { labels, value } of read) series.at(labels).value = value;
		return [...series.cells.values()].map(({ labels, cell }) => ({ labels, value: cell.value }));
	}

	/** A gauge that fails to read is missing from the scrape; the others are not affected. */
	private readSafely(): number | readonly Sample[] {
		try {
			return this.read();
		} catch {
			return [];
		}
	}
}

/** The registry needs only a name and values, but its type demands prom-client's own classes. */
function asRegistered(metric: Declared): Metric {
	const { name, help, type } = metric;
	const registered = { name, get: () => Promise.resolve({ name, help, type, values: metric.lines() }) };
	return registered as unknown as Metric;
}

function checkNames({ name, help, type, labels }: About): void {
	if ((type === 'counter') !== name.endsWith('_total')) throw new Error(`Metric ${name}: counters, and they alone, end in _total`);
	for (const one of [name, ...labels]) {
		if (!/^[a-z][a-z0-9_]*$/.test(one) || one === 'le') throw new Error(`Metric ${name}: ${one} is not a name for a metric or label`);
	}
	if (help === '') throw new Error(`Metric ${name} has no help text`);
}

interface Family {
	/** Lines with help and type. */
	readonly head: string[];
	readonly lines: string[];
}

/** Merges the metrics of several processes into one text. The label `worker` of each series names its process. @param texts by worker. */
export function mergeExpositions(texts: ReadonlyMap<string, string>): string {
	const families = new Map<string, Family>();
	for (const [worker, text] of texts) {
		let family: Family = { head: [], lines: [] };
		let isNew = true;
		for (const line of text.split('\n')) {
			if (line === '') continue;
			if (line.startsWith('# HELP ')) {
				const name = line.split(' ', 3)[2] ?? '';
				isNew = !families.has(name);
				family = families.get(name) ?? { head: [], lines: [] };
				families.set(name, family);
			}
			if (!line.startsWith('#')) family.lines.push(labelled(line, worker));
			else if (isNew) family.head.push(line);
		}
	}
	return [...families.values()].map(({ head, lines }) => `${[...head, ...lines].join('\n')}\n`).join('\n');
}

function labelled(line: string, worker: string): string {
	const end = line.search(/[{ ]/);
	const [name, rest] = [line.slice(0, end), line.slice(end)];
	return rest.startsWith('{') ? `${name}{worker="${worker}",${rest.slice(1)}` : `${name}{worker="${worker}"}${rest}`;
}
