import { describe, expect, it } from 'vitest';
import type { RoutingRule } from '../../core/routing-rule.ts';
import { targetByRules } from './routing-rules.ts';
import type { RoutingFacts } from './routing-settings.ts';

const anything = { model: null, team: null, format: null };
const rule = (id: string, changes: Partial<RoutingRule> = {}): RoutingRule => ({
	id,
	name: id,
	priority: 1,
	isEnabled: true,
	match: anything,
	strategy: 'priority',
	targets: [{ provider: 'a', model: id, weight: 1 }],
	createdAtMs: 0,
	updatedAtMs: 0,
	...changes,
});
const facts: RoutingFacts = { format: 'chat', model: 'gpt', team: 'red', stickyKey: 'one', providerHeader: undefined, rules: [] };
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
		expect(targetByRules(rules, facts, all)?.model).toBe('fits');
		expect(targetByRules(rules.slice(0, 3), facts, all)).toBeUndefined();
	});

	it('targets of providers that are not configured are passed over, and so is a rule that has no other', () => {
		const targets = ['gone', 'b'].map((provider) => ({ provider, model: null, weight: 1 }));
		expect(targetByRules([rule('x', { targets })], facts, (name) => name === 'b')?.provider).toBe('b');
		expect(targetByRules([rule('x', { targets }), rule('y')], facts, (name) => name === 'a')?.model).toBe('y');
	});

	it('weights share calls out, and a key keeps its target', () => {
		const targets = [
			{ provider: 'a', model: null, weight: 3 },
			{ provider: 'b', model: null, weight: 1 },
			{ provider: 'c', model: null, weight: 0 },
		];
		const rules = [rule('x', { strategy: 'weighted', targets })];
		const counts: Record<string, number> = { a: 0, b: 0, c: 0 };
		for (let key = 0; key < 4000; key++) {
			const stickyKey = `req_${key}`;
			const provider = targetByRules(rules, { ...facts, stickyKey }, all)?.provider ?? '';
			counts[provider] = (counts[provider] ?? 0) + 1;
			expect(targetByRules(rules, { ...facts, stickyKey }, all)?.provider).toBe(provider);
		}
		expect(counts['c']).toBe(0);
		expect(counts['a']).toBeGreaterThan(2800);
		expect(counts['a']).toBeLessThan(3200);
		expect(targetByRules([rule('x', { strategy: 'weighted', targets: targets.slice(2) })], facts, all)).toBeUndefined();
	});
});
