import { contentCategories, thresholdsOf } from './content/content-category.ts';
import type { RuleAction } from './guardrail.ts';
import type { GuardrailSettings } from './guardrails.ts';
import { piiKinds } from './pii/pii-kind.ts';
import { ruleOfModeration } from './verdicts.ts';

/** Returns the actions of the built-in rules by name, before overrides of teams. */
export function ruleActionsOf({ content, pii, words, patterns, topics }: GuardrailSettings): ReadonlyMap<string, RuleAction> {
	const actions = new Map<string, RuleAction>();
	for (const category of contentCategories) actions.set(`content.${category}`, content[category].action);
	for (const kind of piiKinds) actions.set(`pii.${kind}`, pii[kind]);
	if (words.entries.length > 0) actions.set('words.listed', words.action);
	for (const { name, action } of patterns) actions.set(`patterns.${name}`, action);
	for (const { name, action } of topics) actions.set(`topics.${name}`, action);
	return actions;
}

/**
 * Tells whether guardrails are enforced for a team. They are not if all rules that could block or mask are in monitor mode: requests and
 * responses then stay unchanged, as without enforcement.
 */
export function isEnforcedFor(
	team: string,
	settings: GuardrailSettings,
	moderationProviders: readonly { readonly name: string; readonly action: RuleAction }[],
): boolean {
	const { isEnforced, monitored, unreadable, content, teams } = settings;
	if (!isEnforced || monitored.length === 0 || unreadable === 'block') return isEnforced;
	const overrides = teams[team] ?? {};
	const isUnscored = new Set(
		contentCategories.filter((name) => thresholdsOf(content[name].strength) === undefined).map((name) => `content.${name}`),
	);
	const actions: readonly (readonly [rule: string, action: RuleAction])[] = [
		...[...ruleActionsOf(settings)]
			.filter(([rule]) => !isUnscored.has(rule))
			.map(([rule, action]) => [rule, overrides[rule] ?? overrides[policyOf(rule)] ?? action] as const),
		...moderationProviders.map((provider) => [`moderation.${provider.name}`, ruleOfModeration(provider, overrides)] as const),
	];
	return actions.some(([rule, action]) => (action === 'block' || action === 'mask') && !monitored.includes(rule));
}

function policyOf(rule: string): string {
	return rule.slice(0, rule.indexOf('.'));
}
