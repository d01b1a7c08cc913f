import { describe, expect, it } from 'vitest';
import type { RoutingRule } from '../../core/routing-rule.ts';
import { targetsByRules } from './routing-rules.ts';
import type { RoutingInput } from './routing-settings.ts';

const anything = { model: null, team: null, format: null };
const rule = (id: string, changes: Partial<RoutingRule> = {}): RoutingRule => ({
	id,
	name: id,
	priority: 1,
	isEnabled: true,
	mode: 'enforce',
	match: anything,
	strategy: 'priority',
	targets: [{ provider: 'a', model: id, weight: 1 }],
	createdAtMs: 0,
	updatedAtMs: 0,
	...changes,
});
const facts: RoutingInput = { format: 'chat', model: 'gpt', team: 'red', stickyKey: 'one', providerHeader: undefined, rules: [] };
const all = (): boolean => true;

describe('rules', () => {
	it('the first that matches in model, team and format decides', () => {
		const rules = [
			rule('other-model', { match: { ...anything, model: 'claude' } }),
			rule('other-team', { match: { ...anything, team: 'blue' } }),
			rule('other-format', { match: { ...anything, format: 'messages' } }),
			rule('fits', { match: { model: 'gpt', team: 'red', format: 'chat' } }),
			rule('later'),
		];
		expect(targetsByRules(rules, facts, all)[0]?.model).toBe('fits');
		expect(targetsByRules(rules.slice(0, 3), facts, all)).toEqual([]);
	});

	it.each([
		['gpt-5', 'gpt-5', true],
		['gpt-5', 'gpt-5-mini', false],
		['gpt-5*', 'gpt-5-mini', true],
		['gpt-5*', 'gpt-5', true],
		['*-mini', 'gpt-5-mini', true],
		['*-mini', 'gpt-5-mini-2', false],
		['gpt-*-mini*', 'gpt-5-mini-2026', true],
		['a*a', 'a', false],
		['a*b*c', 'a-c-b', false],
		['a*x*c', 'abc', false],
		['a*bc*c', 'abc', false],
		['a*b*b*c', 'abc', false],
		['a*b*b*c', 'abbc', true],
		['*', '', true],
		['gpt.5*', 'gpt-5', false],
	])('of the pattern %s: %s, %s', (model, name, isMatch) => {
		const rules = [rule('x', { match: { ...anything, model } })];
		expect(targetsByRules(rules, { ...facts, model: name }, all)).toHaveLength(isMatch ? 1 : 0);
	});

	it('the later targets are to fall back on: in their order, or by weight and key', () => {
		const targets = ['a', 'b', 'c'].map((provider) => ({ provider, model: null, weight: provider === 'c' ? 0 : 1 }));
		const names = (strategy: RoutingRule['strategy'], stickyKey = 'one') =>
			targetsByRules([rule('x', { strategy, targets })], { ...facts, stickyKey }, all).map(({ provider }) => provider);
		expect(names('priority')).toEqual(['a', 'b']);
		expect(new Set(Array.from({ length: 40 }, (_, key) => names('weighted', `k${key}`).join('')))).toEqual(new Set(['ab', 'ba']));
	});

	it('a key whose target fails spreads over the others by their weights', () => {
		const targets = ['a', 'b', 'c'].map((provider) => ({ provider, model: null, weight: 1 }));
		const rules = [rule('x', { strategy: 'weighted', targets })];
		const seconds: Record<string, number> = {};
		for (let key = 0; key < 3000; key++) {
			const [first, second] = targetsByRules(rules, { ...facts, stickyKey: `s${key}` }, all);
			if (first?.provider === 'a') seconds[second?.provider ?? ''] = (seconds[second?.provider ?? ''] ?? 0) + 1;
		}
		expect(Object.keys(seconds).toSorted()).toEqual(['b', 'c']);
		expect(Math.min(...Object.values(seconds)) / Math.max(...Object.values(seconds))).toBeGreaterThan(0.8);
	});

	it('targets of providers that are not configured are passed over, and so is a rule that has no other', () => {
		const targets = ['gone', 'b'].map((provider) => ({ provider, model: null, weight: 1 }));
		expect(targetsByRules([rule('x', { targets })], facts, (name) => name === 'b')[0]?.provider).toBe('b');
		expect(targetsByRules([rule('x', { targets }), rule('y')], facts, (name) => name === 'a')[0]?.model).toBe('y');
	});

	it('weights distribute requests, and a key keeps its target', () => {
		const targets = [
			{ provider: 'a', model: null, weight: 3 },
			{ provider: 'b', model: null, weight: 1 },
			{ provider: 'c', model: null, weight: 0 },
		];
		const rules = [rule('x', { strategy: 'weighted', targets })];
		const counts: Record<string, number> = { a: 0, b: 0, c: 0 };
		for (let key = 0; key < 4000; key++) {
			const stickyKey = `req_${key}`;
			const provider = targetsByRules(rules, { ...facts, stickyKey }, all)[0]?.provider ?? '';
			counts[provider] = (counts[provider] ?? 0) + 1;
			expect(targetsByRules(rules, { ...facts, stickyKey }, all)[0]?.provider).toBe(provider);
		}
		expect(counts['c']).toBe(0);
		expect(counts['a']).toBeGreaterThan(2800);
		expect(counts['a']).toBeLessThan(3200);
		expect(targetsByRules([rule('x', { strategy: 'weighted', targets: targets.slice(2) })], facts, all)).toEqual([]);
	});
});
