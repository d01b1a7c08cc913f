/** Decides the action of a finding: by the team's rules, the stage, and whether guardrails are enforced. */
import type { AssessedAction, Classification, Finding, Policy, RuleAction, Stage } from './guardrail.ts';
import type { FoundSpan } from './text-scan.ts';

/** Actions by rule: `words`, `pii.email`, `topics.<name>`; other rules use the policy's action, or the default of the settings. */
export type RuleActions = Readonly<Record<string, RuleAction>>;

/** Returns the team's action for an external moderation provider. Its findings have no span, so `mask` acts as `block`. */
export function ruleOfModeration(
	{ name, action }: { readonly name: string; readonly action: RuleAction },
	rules: RuleActions = {},
): RuleAction {
	return rules[`moderation.${name}`] ?? rules['moderation'] ?? action;
}

export interface VerdictTerms {
	/** False: all rules are in monitor mode. */
	readonly isEnforced: boolean;
	readonly masksResponses: boolean;
	/** Rules in monitor mode. */
	readonly monitored: ReadonlySet<string>;
}

export class Verdicts {
	readonly #actions: ReadonlyMap<string, RuleAction>;
	readonly #overrides: RuleActions;
	readonly #stage: Stage;
	readonly #terms: VerdictTerms;

	constructor(actions: ReadonlyMap<string, RuleAction>, overrides: RuleActions, stage: Stage, terms: VerdictTerms) {
		this.#actions = actions;
		this.#overrides = overrides;
		this.#stage = stage;
		this.#terms = terms;
	}

	/** @returns undefined for a category that the team's rules do not evaluate. */
	ofSpan({ policy, category, start, end, isMaskable }: FoundSpan): Finding | undefined {
		const action = this.#assess(policy, category, true);
		if (action === undefined) return undefined;
		return { policy, category, ...this.#taken(policy, category, action === 'MASK' && !isMaskable ? 'BLOCK' : action), start, end };
	}

	/** @param length of the text. */
	ofClassification({ policy, category, isSure }: Classification, length: number): Finding | undefined {
		const action = this.#assess(policy, category, isSure);
		// There is no span to mask.
		if (action === undefined) return undefined;
		return { policy, category, ...this.#taken(policy, category, action === 'MASK' ? 'BLOCK' : action), start: 0, end: length };
	}

	/** Tells whether a finding can be blocked or masked; otherwise no text is held back for it. */
	canStop(policy: Policy, category: string): boolean {
		const action = this.#assess(policy, category, true);
		return (action === 'BLOCK' || action === 'MASK') && this.#isEnforced(policy, category);
	}

	actionOf(policy: Policy, category: string): RuleAction {
		const overrides = this.#overrides;
		return overrides[`${policy}.${category}`] ?? overrides[policy] ?? this.#actions.get(`${policy}.${category}`) ?? 'none';
	}

	#taken(policy: Policy, category: string, action: AssessedAction): Pick<Finding, 'action' | 'monitored'> {
		return action === 'NONE' || this.#isEnforced(policy, category) ? { action } : { action: 'NONE', monitored: action };
	}

	#isEnforced(policy: Policy, category: string): boolean {
		const { isEnforced, monitored } = this.#terms;
		return isEnforced && !monitored.has(`${policy}.${category}`);
	}

	/** @returns the action under enforcement. */
	#assess(policy: Policy, category: string, isSure: boolean): AssessedAction | undefined {
		const action = this.actionOf(policy, category);
		if (action === 'none') return undefined;
		if (action === 'log' || !isSure) return 'NONE';
		if (action === 'block') return 'BLOCK';
		return this.#stage === 'output' && !this.#terms.masksResponses ? 'NONE' : 'MASK';
	}
}
