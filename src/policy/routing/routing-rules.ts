import { hashText } from '../../core/hash-text.ts';
import { matchesModel } from '../../core/model-pattern.ts';
import type { RoutingRule, RoutingRuleTarget } from '../../core/routing-rule.ts';
import type { RoutingInput } from './routing-settings.ts';

/** Returns what makes two targets interchangeable for a request. Undefined if all targets of a rule are. */
export type TargetIdentity = ((target: RoutingRuleTarget) => string) | undefined;

/**
 * Returns the targets of the first matching rule that leads to a configured provider: the target, then its fallbacks in order. Empty when
 * there is none.
 * @param rules enabled ones, by precedence.
 */
export function targetsByRules(
	rules: readonly RoutingRule[],
	facts: RoutingInput,
	isConfigured: (provider: string) => boolean,
	identify?: TargetIdentity,
): readonly RoutingRuleTarget[] {
	for (const rule of rules) {
		const targets = targetsOf(rule, facts, isConfigured, identify);
		if (targets.length > 0) return targets;
	}
	return [];
}

/** Returns the rule that these targets come from. */
export function decidingRule(
	rules: readonly RoutingRule[],
	facts: RoutingInput,
	isConfigured: (provider: string) => boolean,
): RoutingRule | undefined {
	return rules.find((rule) => matches(rule, facts) && configuredTargets(rule, isConfigured).length > 0);
}

/** Returns the configured targets of a rule that cannot replace its first one. */
export function excludedTargets(
	rule: RoutingRule,
	isConfigured: (provider: string) => boolean,
	identify: TargetIdentity,
): readonly RoutingRuleTarget[] {
	const configured = configuredTargets(rule, isConfigured);
	const usable = interchangeable(configured, identify);
	return configured.filter((target) => !usable.includes(target));
}

function targetsOf(
	rule: RoutingRule,
	facts: RoutingInput,
	isConfigured: (provider: string) => boolean,
	identify: TargetIdentity,
): readonly RoutingRuleTarget[] {
	if (!matches(rule, facts)) return [];
	const targets = interchangeable(configuredTargets(rule, isConfigured), identify);
	return rule.strategy === 'priority' ? targets : byWeight(targets, facts.stickyKey);
}

function configuredTargets({ targets }: RoutingRule, isConfigured: (provider: string) => boolean): readonly RoutingRuleTarget[] {
	return targets.filter(({ provider, weight }) => weight > 0 && isConfigured(provider));
}

/** The first target of the rule decides, because its weights must not distribute requests over others either. */
function interchangeable(targets: readonly RoutingRuleTarget[], identify: TargetIdentity): readonly RoutingRuleTarget[] {
	const [first] = targets;
	if (first === undefined || identify === undefined) return targets;
	const identity = identify(first);
	return targets.filter((target) => identify(target) === identity);
}

function matches({ match }: RoutingRule, { model, team, format }: RoutingInput): boolean {
	return (
		(match.model === null || matchesModel(match.model, model)) &&
		(match.team === null || match.team === team) &&
		(match.format === null || match.format === format)
	);
}

/**
 * Orders targets by weight. The same key gives the same order while weights stay, so that a provider's prompt cache keeps hitting. Each
 * position is drawn from the remaining targets, so that the keys of a failing target spread over the others, and return to it.
 */
function byWeight(targets: readonly RoutingRuleTarget[], key: string): readonly RoutingRuleTarget[] {
	const remaining = [...targets];
	const drawn: RoutingRuleTarget[] = [];
	while (remaining.length > 0) {
		const whole = remaining.reduce((sum, { weight }) => sum + weight, 0);
		let position = hashText(drawn.length === 0 ? key : `${drawn.length} ${key}`) % whole;
		const index = remaining.findIndex(({ weight }) => (position -= weight) < 0);
		drawn.push(...remaining.splice(index, 1));
	}
	return drawn;
}
