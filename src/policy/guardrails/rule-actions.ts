import type { RuleAction } from './guardrail.ts';
import { type RuleActions, ruleOfModeration } from './verdicts.ts';

interface NamedRule {
	readonly name: string;
	readonly action: RuleAction;
}

/** Rules by policy. */
interface RuleSettings {
	/** By category. */
	readonly content: Readonly<Record<string, { readonly action: RuleAction }>>;
	/** By kind. */
	readonly pii: Readonly<Record<string, RuleAction>>;
	readonly words: { readonly entries: readonly string[]; readonly action: RuleAction };
	readonly patterns: readonly NamedRule[];
	readonly topics: readonly NamedRule[];
}

interface EnforcementSettings extends RuleSettings {
	readonly isEnforced: boolean;
	readonly content: Readonly<Record<string, { readonly strength: string; readonly action: RuleAction }>>;
	readonly unreadable: 'pass' | 'block';
	readonly monitored: readonly string[];
	readonly teams: Readonly<Record<string, RuleActions>>;
}

/** Returns the actions of the built-in rules by name, before overrides of teams. */
export function ruleActionsOf({ content, pii, words, patterns, topics }: RuleSettings): ReadonlyMap<string, RuleAction> {
	const actions = new Map<string, RuleAction>();
	for (const [category, { action }] of Object.entries(content)) actions.set(`content.${category}`, action);
	for (const [kind, action] of Object.entries(pii)) actions.set(`pii.${kind}`, action);
	if (words.entries.length > 0) actions.set('words.listed', words.action);
	for (const { name, action } of patterns) actions.set(`patterns.${name}`, action);
	for (const { name, action } of topics) actions.set(`topics.${name}`, action);
	return actions;
}

/**
 * Tells whether guardrails are enforced for a team. They are not if all rules that could block or mask are in monitor mode: requests and
 * responses then stay unchanged, as without enforcement.
 */
export function isEnforcedFor(team: string, settings: EnforcementSettings, moderationProviders: readonly NamedRule[]): boolean {
	const { isEnforced, monitored, unreadable, content, teams } = settings;
	if (!isEnforced || monitored.length === 0 || unreadable === 'block') return isEnforced;
	const overrides = teams[team] ?? {};
	const isScored = (rule: string): boolean => content[rule.slice('content.'.length)]?.strength !== 'none';
	const actions: readonly (readonly [rule: string, action: RuleAction])[] = [
		...[...ruleActionsOf(settings)]
			.filter(([rule]) => !rule.startsWith('content.') || isScored(rule))
			.map(([rule, action]) => [rule, overrides[rule] ?? overrides[policyOf(rule)] ?? action] as const),
		...moderationProviders.map((provider) => [`moderation.${provider.name}`, ruleOfModeration(provider, overrides)] as const),
	];
	return actions.some(([rule, action]) => (action === 'block' || action === 'mask') && !monitored.includes(rule));
}

function policyOf(rule: string): string {
	return rule.slice(0, rule.indexOf('.'));
}
