import { expect, test } from 'vitest';
import { lint, readExposition } from '../../test/support/exposition.ts';
import { mergeExpositions } from './merge-expositions.ts';
import { createMetrics } from './metrics.ts';

test('the figures of several processes stand under one heading, each with its worker', async () => {
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

test('a process that gathers others’ figures shows them with its own; alone it names no worker', async () => {
	const alone = createMetrics(() => Promise.resolve(new Map()));
	alone.gauge('tollgate_test_depth', 'Depth.', () => 3);
	expect((await alone.scrape()).text).toContain('\ntollgate_test_depth 3\n');
	const first = createMetrics(async () => new Map([['1', (await alone.scrape()).text]]));
	first.gauge('tollgate_test_depth', 'Depth.', () => 4);
	expect((await first.scrape()).text).toContain('tollgate_test_depth{worker="0"} 4\ntollgate_test_depth{worker="1"} 3\n');
});
