import type { RoutingRule, RoutingRuleTarget } from '../../core/routing-rule.ts';
import type { RoutingFacts } from './routing-settings.ts';

/**
 * What the first rule that matches says, where it leads to a configured provider.
 * @param rules enabled ones, in the order in which they count.
 */
export function targetByRules(
	rules: readonly RoutingRule[],
	facts: RoutingFacts,
	isConfigured: (provider: string) => boolean,
): RoutingRuleTarget | undefined {
	for (const rule of rules) {
		if (!matches(rule, facts)) continue;
		const targets = rule.targets.filter(({ provider }) => isConfigured(provider));
		const target = rule.strategy === 'priority' ? targets[0] : byWeight(targets, facts.stickyKey);
		if (target !== undefined) return target;
	}
	return undefined;
}

function matches({ match }: RoutingRule, { model, team, format }: RoutingFacts): boolean {
	return (
		(match.model === null || match.model === model) &&
		(match.team === null || match.team === team) &&
		(match.format === null || match.format === format)
	);
}

/** The same key finds the same target while weights stay: a provider's prompt cache keeps hitting. */
function byWeight(targets: readonly RoutingRuleTarget[], key: string): RoutingRuleTarget | undefined {
	const whole = targets.reduce((sum, { weight }) => sum + weight, 0);
	if (whole === 0) return undefined;
	let place = hash(key) % whole;
	for (const target of targets) {
		if (place < target.weight) return target;
		place -= target.weight;
	}
	return undefined;
}

/** FNV-1a, 32 bits, with a last mix so that keys which differ in their end spread over small weights too. */
function hash(key: string): number {
	let value = 0x811c9dc5;
	for (let index = 0; index < key.length; index++) value = Math.imul(value ^ key.charCodeAt(index), 0x01000193);
	value = Math.imul(value ^ (value >>> 16), 0x45d9f3b);
	return (value ^ (value >>> 16)) >>> 0;
}
