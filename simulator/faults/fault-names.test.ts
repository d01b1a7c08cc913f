import { describe, expect, test } from 'vitest';
import { readFaultNames, splitModelName } from './fault-names.ts';
import { createFaultRules } from './fault-rules.ts';

describe('names', () => {
	test.each([
		['stall-3', { breakOff: { afterEvents: 3, manner: 'stall' } }],
		['stall', { breakOff: { afterEvents: 3, manner: 'stall' } }],
		['cut-mid-event', { breakOff: { afterEvents: 3, manner: 'cut-inside' } }],
		['slow-first-byte-250', { firstByteMs: 250 }],
		['tokens-500-interval-10', { outputTokens: 500, intervalMs: 10 }],
		['429', { status: 429 }],
		['429-quota', { status: 429, isQuota: true }],
		['429-retry-after-7', { status: 429, retryAfterSeconds: 7 }],
		['html-200', { replacement: 'html' }],
		['empty-ids', { emptiesIds: true }],
		['empty', { replacement: 'empty' }],
		['stall-0, tokens-5', { breakOff: { afterEvents: 0, manner: 'stall' }, outputTokens: 5 }],
		['cheap-model-2', {}],
		['', {}],
	])('%s', (name, plan) => {
		expect(readFaultNames(name)).toEqual(plan);
	});

	test.each([
		['sim-stall-3', { base: '', faults: 'stall-3' }],
		['sim', { base: '', faults: '' }],
		['claude-sim-429', { base: 'claude', faults: '429' }],
		['gpt-5.6-sim-tokens-9', { base: 'gpt-5.6', faults: 'tokens-9' }],
		['gpt-4o', { base: 'gpt-4o', faults: undefined }],
		['simple-model', { base: 'simple-model', faults: undefined }],
	])('model %s', (model, split) => {
		expect(splitModelName(model)).toEqual(split);
	});
});

describe('rules', () => {
	const call = { wire: 'openai', key: 'sk-abcd1234', model: 'gpt-4o', path: '/openai/v1/responses' };

	test('match wire, end of key, model and end of path', () => {
		const rules = createFaultRules();
		rules.add({ dialect: 'openai', key: '1234', model: 'gpt-4o', path: '/v1/responses', fault: '500', rate: 1, count: null, seed: 1 });
		expect(rules.take(call)).toEqual({ status: 500 });
		expect(rules.take({ ...call, wire: 'azure' })).toEqual({});
		expect(rules.take({ ...call, key: 'sk-other' })).toEqual({});
		expect(rules.take({ ...call, model: 'gpt-5' })).toEqual({});
		expect(rules.take({ ...call, path: '/openai/v1/embeddings' })).toEqual({});
	});

	test('end after their count', () => {
		const rules = createFaultRules();
		rules.add({ fault: '500', rate: 1, count: 2, seed: 1 });
		expect([rules.take(call), rules.take(call), rules.take(call)]).toEqual([{ status: 500 }, { status: 500 }, {}]);
	});

	test('hit at their rate, the same calls for the same seed', () => {
		const hits = (seed: number): number[] => {
			const rules = createFaultRules();
			rules.add({ fault: '500', rate: 0.2, count: null, seed });
			return Array.from({ length: 1000 }, (_value, index) => (rules.take(call).status === 500 ? index : -1)).filter((index) => index >= 0);
		};
		expect(hits(4)).toEqual(hits(4));
		expect(hits(4)).not.toEqual(hits(5));
		expect(hits(4).length).toBeGreaterThan(150);
		expect(hits(4).length).toBeLessThan(250);
	});
});
