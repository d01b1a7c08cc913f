/** Selects the moderation providers for a team's requests by rule, and turns their results into findings. */
import type { Finding, RuleAction, Stage } from '../../../policy/guardrails/guardrail.ts';
import type { GuardrailSettings } from '../../../policy/guardrails/guardrails.ts';
import { ruleOfModeration } from '../../../policy/guardrails/verdicts.ts';
import type { ModerationContext, ModerationProvider } from './create-moderation-providers.ts';

/** A match as it is reported. */
export interface Violation extends Pick<Finding, 'category' | 'action' | 'monitored'> {
	readonly policy: string;
}

type ModerationTerms = Pick<GuardrailSettings, 'isEnforced' | 'monitored' | 'teams'>;

const moderationFailed = '.failed';

export class ModerationDispatcher {
	readonly #moderationProviders: readonly ModerationProvider[];
	readonly #settings: ModerationTerms;

	constructor(moderationProviders: readonly ModerationProvider[], settings: ModerationTerms) {
		this.#moderationProviders = moderationProviders;
		this.#settings = settings;
	}

	/** Moderation providers that may block the team's requests, which wait for them; none without enforcement. */
	stopping(team: string): readonly ModerationProvider[] {
		return this.#moderationProviders.filter((moderationProvider) => this.#canStop(moderationProvider, team));
	}

	/** Moderation providers that only monitor the team's requests: no request waits for them. */
	noting(team: string): readonly ModerationProvider[] {
		return this.#moderationProviders.filter(
			(moderationProvider) => this.#ruleOf(moderationProvider, team) !== 'none' && !this.#canStop(moderationProvider, team),
		);
	}

	/**
	 * Requests evaluations from `moderationProviders`, a result of `stopping` or `noting`, within their timeouts. Categories are prefixed with the
	 * provider's name.
	 */
	async evaluate(
		moderationProviders: readonly ModerationProvider[],
		texts: readonly string[],
		stage: Stage,
		requested: ModerationContext,
	): Promise<readonly Violation[]> {
		if (moderationProviders.length === 0 || texts.length === 0) return [];
		const violations = moderationProviders.map(async (moderationProvider): Promise<readonly Violation[]> => {
			const canStop = this.#canStop(moderationProvider, requested.team);
			const isBlockRule = isBlocking(this.#ruleOf(moderationProvider, requested.team));
			const judgement = await moderationProvider.judge(texts, stage, requested);
			const notify = (category: string, blocks: boolean): Violation => ({
				policy: 'moderation',
				category: `${moderationProvider.name}.${category}`,
				action: blocks && canStop ? 'BLOCK' : 'NONE',
				...(blocks && isBlockRule && !canStop && { monitored: 'BLOCK' }),
			});
			const found = judgement.findings.map(({ category, isSure }) => notify(category, isSure));
			return judgement.outcome === 'failed' ? [...found, notify('failed', judgement.isBlocking)] : found;
		});
		return (await Promise.all(violations)).flat();
	}

	#ruleOf(moderationProvider: ModerationProvider, team: string): ReturnType<typeof ruleOfModeration> {
		return ruleOfModeration(moderationProvider, this.#settings.teams[team]);
	}

	#canStop(moderationProvider: ModerationProvider, team: string): boolean {
		const { isEnforced, monitored } = this.#settings;
		return isEnforced && !monitored.includes(`moderation.${moderationProvider.name}`) && isBlocking(this.#ruleOf(moderationProvider, team));
	}
}

function isBlocking(rule: RuleAction): boolean {
	return rule === 'block' || rule === 'mask';
}

export function isModerationFailure({ policy, category }: Violation): boolean {
	return policy === 'moderation' && category.endsWith(moderationFailed);
}
