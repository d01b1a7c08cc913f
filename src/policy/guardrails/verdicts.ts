/** What becomes of a finding: by the team's rules, the stage, and whether guardrails are enforced. */
import type { AssessedAction, Finding, Judgement, Policy, RuleAction, Stage } from './guardrail.ts';
import type { FoundSpan } from './text-scan.ts';

/** By rule: `words`, `pii.email`, `topics.<name>`; what is not named is as its policy, or as the settings say. */
export type RuleActions = Readonly<Record<string, RuleAction>>;

/** Of an engine elsewhere, by its name, for a team. What engines find has no place in a text, so `mask` is as `block`. */
export function ruleOfEngine(
	{ name, action }: { readonly name: string; readonly action: RuleAction },
	rules: RuleActions = {},
): RuleAction {
	return rules[`moderation.${name}`] ?? rules['moderation'] ?? action;
}

export class Verdicts {
	readonly #actions: ReadonlyMap<string, RuleAction>;
	readonly #overrides: RuleActions;
	readonly #stage: Stage;
	readonly #isEnforced: boolean;
	readonly #masksAnswers: boolean;

	constructor(
		actions: ReadonlyMap<string, RuleAction>,
		overrides: RuleActions,
		stage: Stage,
		{ isEnforced, masksAnswers }: { readonly isEnforced: boolean; readonly masksAnswers: boolean },
	) {
		this.#actions = actions;
		this.#overrides = overrides;
		this.#stage = stage;
		this.#isEnforced = isEnforced;
		this.#masksAnswers = masksAnswers;
	}

	/** @returns undefined for what the team does not have looked for. */
	ofSpan({ policy, category, start, end, isMaskable }: FoundSpan): Finding | undefined {
		const action = this.#assess(policy, category, true);
		if (action === undefined) return undefined;
		return { policy, category, action: action === 'MASK' && !isMaskable ? 'BLOCK' : action, start, end };
	}

	/** @param length of the text. */
	ofJudgement({ policy, category, isSure }: Judgement, length: number): Finding | undefined {
		const action = this.#assess(policy, category, isSure);
		// There is no place to mask.
		return action === undefined ? undefined : { policy, category, action: action === 'MASK' ? 'BLOCK' : action, start: 0, end: length };
	}

	/** Whether what is found may be blocked or masked: else nothing need wait until it is found. */
	mayStop(policy: Policy, category: string): boolean {
		const action = this.#assess(policy, category, true);
		return action === 'BLOCK' || action === 'MASK';
	}

	actionOf(policy: Policy, category: string): RuleAction {
		const overrides = this.#overrides;
		return overrides[`${policy}.${category}`] ?? overrides[policy] ?? this.#actions.get(`${policy}.${category}`) ?? 'none';
	}

	#assess(policy: Policy, category: string, isSure: boolean): AssessedAction | undefined {
		const action = this.actionOf(policy, category);
		if (action === 'none') return undefined;
		if (!this.#isEnforced || action === 'log' || !isSure) return 'NONE';
		if (action === 'block') return 'BLOCK';
		return this.#stage === 'output' && !this.#masksAnswers ? 'NONE' : 'MASK';
	}
}
