import type { RoutingRule, RoutingRuleTarget } from '../../core/routing-rule.ts';
import { matchesModel } from './model-pattern.ts';
import type { RoutingFacts } from './routing-settings.ts';

/**
 * What the first rule that matches says, where it leads to a configured provider: the target, then those to fall back on in their order.
 * Empty when no rule does.
 * @param rules enabled ones, in the order in which they count.
 */
export function targetsByRules(
	rules: readonly RoutingRule[],
	facts: RoutingFacts,
	isConfigured: (provider: string) => boolean,
): readonly RoutingRuleTarget[] {
	for (const rule of rules) {
		const targets = targetsOf(rule, facts, isConfigured);
		if (targets.length > 0) return targets;
	}
	return [];
}

/** The rule whose targets these are. */
export function decidingRule(
	rules: readonly RoutingRule[],
	facts: RoutingFacts,
	isConfigured: (provider: string) => boolean,
): RoutingRule | undefined {
	return rules.find((rule) => targetsOf(rule, facts, isConfigured).length > 0);
}

function targetsOf(rule: RoutingRule, facts: RoutingFacts, isConfigured: (provider: string) => boolean): readonly RoutingRuleTarget[] {
	if (!matches(rule, facts)) return [];
	const configured = rule.targets.filter(({ provider, weight }) => weight > 0 && isConfigured(provider));
	return rule.strategy === 'priority' ? configured : byWeight(configured, facts.stickyKey);
}

function matches({ match }: RoutingRule, { model, team, format }: RoutingFacts): boolean {
	return (
		(match.model === null || matchesModel(match.model, model)) &&
		(match.team === null || match.team === team) &&
		(match.format === null || match.format === format)
	);
}

/**
 * The same key finds the same order while weights stay: a provider's prompt cache keeps hitting. Each place is drawn from those that are
 * left, so that the keys of a target that fails spread over the others, and come back to it.
 */
function byWeight(targets: readonly RoutingRuleTarget[], key: string): readonly RoutingRuleTarget[] {
	const left = [...targets];
	const drawn: RoutingRuleTarget[] = [];
	while (left.length > 0) {
		const whole = left.reduce((sum, { weight }) => sum + weight, 0);
		let place = hash(drawn.length === 0 ? key : `${drawn.length} ${key}`) % whole;
		const index = left.findIndex(({ weight }) => (place -= weight) < 0);
		drawn.push(...left.splice(index, 1));
	}
	return drawn;
}

/** FNV-1a, 32 bits, with a last mix so that keys which differ in their end spread over small weights too. */
function hash(key: string): number {
	let value = 0x811c9dc5;
	for (let index = 0; index < key.length; index++) value = Math.imul(value ^ key.charCodeAt(index), 0x01000193);
	value = Math.imul(value ^ (value >>> 16), 0x45d9f3b);
	return (value ^ (value >>> 16)) >>> 0;
}
