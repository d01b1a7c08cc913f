import { expect, test } from 'vitest';
import { lint, readExposition, valueOf } from '../../test/support/exposition.ts';
import { createMetrics, mergeExpositions } from './metrics.ts';

test('counts, observes and reads, in the text that scrapers read', async () => {
	const metrics = createMetrics();
	const calls = metrics.counter('tollgate_test_calls_total', 'Calls.', ['kind']);
	calls.add(2, { kind: 'a' });
	calls.of({ kind: 'a' }).add();
	calls.add(Number.NaN, { kind: 'a' });
	calls.add(-1, { kind: 'a' });
	calls.of({ kind: 'b' });
	metrics.counter('tollgate_test_seen_total', 'Seen at 0, before anything is counted.');
	const seconds = metrics.histogram('tollgate_test_seconds', 'Seconds.', [1, 0.1], ['kind']);
	for (const value of [0.05, 0.1, 0.5, 7, Number.NaN]) seconds.observe(value, { kind: 'a' });
	metrics.gauge('tollgate_test_depth', 'Depth.', () => 3);
	metrics.total('tollgate_test_kept_total', 'Kept elsewhere.', () => [{ labels: { kind: 'x' }, value: 4 }], ['kind']);
	const { contentType, text } = await metrics.scrape();
	expect(contentType).toBe('text/plain; version=0.0.4; charset=utf-8');
	expect(text.split('\n').filter((line) => line.includes('tollgate_test'))).toEqual([
		'# HELP tollgate_test_calls_total Calls.',
		'# TYPE tollgate_test_calls_total counter',
		'tollgate_test_calls_total{kind="a"} 3',
		'tollgate_test_calls_total{kind="b"} 0',
		'# HELP tollgate_test_seen_total Seen at 0, before anything is counted.',
		'# TYPE tollgate_test_seen_total counter',
		'tollgate_test_seen_total 0',
		'# HELP tollgate_test_seconds Seconds.',
		'# TYPE tollgate_test_seconds histogram',
		'tollgate_test_seconds_bucket{kind="a",le="0.1"} 2',
		'tollgate_test_seconds_bucket{kind="a",le="1"} 3',
		'tollgate_test_seconds_bucket{kind="a",le="+Inf"} 4',
		'tollgate_test_seconds_sum{kind="a"} 7.65',
		'tollgate_test_seconds_count{kind="a"} 4',
		'# HELP tollgate_test_depth Depth.',
		'# TYPE tollgate_test_depth gauge',
		'tollgate_test_depth 3',
		'# HELP tollgate_test_kept_total Kept elsewhere.',
		'# TYPE tollgate_test_kept_total counter',
		'tollgate_test_kept_total{kind="x"} 4',
	]);
	expect(lint(text)).toEqual([]);
	expect(valueOf(readExposition(text), 'process_resident_memory_bytes')).toBeGreaterThan(1e6);
});

test('text that cannot be escaped correctly stays one line', async () => {
	const metrics = createMetrics();
	metrics.counter('tollgate_test_total', 'A \\ and\na line.', ['name']).add(1, { name: 'a"b\\c\nd' });
	const { text } = await metrics.scrape();
	expect(text).toContain('tollgate_test_total{name="a\\"b\\\\c\\nd"} 1\n');
	expect(text).toContain('# HELP tollgate_test_total A \\\\ and\\na line.\n');
	expect(lint(text)).toEqual([]);
});

test('a metric has a bounded number of series, and its sum stays correct', async () => {
	const metrics = createMetrics();
	const calls = metrics.counter('tollgate_test_total', 'Calls.', ['name', 'kind']);
	const seconds = metrics.histogram('tollgate_test_seconds', 'Seconds.', [1], ['name']);
	metrics.gauge(
		'tollgate_test_depth',
		'Depth.',
		() => Array.from({ length: 10_000 }, (_, index) => ({ labels: { name: String(index) }, value: 1 })),
		['name'],
	);
	for (let index = 0; index < 10_000; index++) {
		calls.add(1, { name: `invented-${index}`, kind: 'a' });
		seconds.observe(2, { name: `invented-${index}` });
	}
	const series = readExposition((await metrics.scrape()).text);
	const of = (name: string) => series.filter((one) => one.name === name);
	expect(of('tollgate_test_total')).toHaveLength(1001);
	expect(of('tollgate_test_total').reduce((sum, { value }) => sum + value, 0)).toBe(10_000);
	expect(valueOf(series, 'tollgate_test_total', { name: 'other', kind: 'other' })).toBe(9000);
	expect(of('tollgate_test_seconds_count').reduce((sum, { value }) => sum + value, 0)).toBe(10_000);
	expect(of('tollgate_test_seconds_count')).toHaveLength(201);
	expect(of('tollgate_test_depth')).toHaveLength(1001);
});

test('the same declaration returns the same counter; another one of the same name is rejected', async () => {
	const metrics = createMetrics();
	metrics.counter('tollgate_test_total', 'Calls.').add();
	metrics.counter('tollgate_test_total', 'Calls.').add();
	expect(valueOf(readExposition((await metrics.scrape()).text), 'tollgate_test_total')).toBe(2);
	expect(() => metrics.counter('tollgate_test_total', 'Calls.', ['kind'])).toThrow('declared twice');
	expect(() => metrics.total('tollgate_test_total', 'Calls.', () => 1)).toThrow('declared twice');
	expect(() => metrics.counter('tollgate_test', 'Calls.')).toThrow('_total');
	expect(() => metrics.gauge('tollgate_test_total2_total', 'Calls.', () => 1)).toThrow('_total');
	expect(() => metrics.counter('Tollgate-calls_total', 'Calls.')).toThrow('not a name');
	expect(() => metrics.histogram('tollgate_test_seconds', 'Seconds.', [1], ['le'])).toThrow('not a name');
	expect(() => metrics.gauge('tollgate_test_depth', '', () => 1)).toThrow('no help');
	expect(metrics.declared()).toEqual([{ name: 'tollgate_test_total', help: 'Calls.', type: 'counter', labels: [] }]);
});

test('only the gauge that fails is missing; one that is declared again is read from its new component', async () => {
	const metrics = createMetrics();
	metrics.gauge('tollgate_test_failing', 'Fails.', () => {
		throw new Error('not now');
	});
	metrics.gauge('tollgate_test_depth', 'Depth.', () => 1);
	metrics.gauge('tollgate_test_depth', 'Depth.', () => 2);
	const series = readExposition((await metrics.scrape()).text);
	expect(series.some(({ name }) => name === 'tollgate_test_failing')).toBe(false);
	expect(valueOf(series, 'tollgate_test_depth')).toBe(2);
});

test('the metrics of several processes share one heading, each with its worker', async () => {
	const texts = new Map<string, string>();
	for (const worker of ['0', '1', '2']) {
		const metrics = createMetrics();
		if (worker !== '0') metrics.counter('tollgate_test_calls_total', 'Calls.', ['kind']).add(Number(worker), { kind: 'a b{"}' });
		metrics.gauge('tollgate_test_depth', 'Depth.', () => Number(worker));
		texts.set(worker, (await metrics.scrape()).text);
	}
	const merged = mergeExpositions(texts);
	expect(lint(merged)).toEqual([]);
	expect(merged.match(/^# TYPE tollgate_test_/gm)).toHaveLength(2);
	expect(readExposition(merged).filter(({ name }) => name.startsWith('tollgate_test'))).toEqual([
		...['0', '1', '2'].map((worker) => ({ name: 'tollgate_test_depth', labels: { worker }, value: Number(worker) })),
		...['1', '2'].map((worker) => ({ name: 'tollgate_test_calls_total', labels: { worker, kind: 'a b{\\"}' }, value: Number(worker) })),
	]);
});

test('a process that gathers others’ metrics shows them with its own; alone it names no worker', async () => {
	const alone = createMetrics(() => Promise.resolve(new Map()));
	alone.gauge('tollgate_test_depth', 'Depth.', () => 3);
	expect((await alone.scrape()).text).toContain('\ntollgate_test_depth 3\n');
	const first = createMetrics(async () => new Map([['1', (await alone.scrape()).text]]));
	first.gauge('tollgate_test_depth', 'Depth.', () => 4);
	expect((await first.scrape()).text).toContain('tollgate_test_depth{worker="0"} 4\ntollgate_test_depth{worker="1"} 3\n');
});
