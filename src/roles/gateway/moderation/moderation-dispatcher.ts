/** Selects the moderation providers for a team's requests by rule, and turns their results into findings. */
import type { Finding, Stage } from '../../../policy/guardrails/guardrail.ts';
import type { GuardrailSettings } from '../../../policy/guardrails/guardrails.ts';
import { ruleOfEngine } from '../../../policy/guardrails/verdicts.ts';
import type { GuardrailEngine, ModerationContext } from './create-moderation-providers.ts';

/** A match as it is reported. */
export interface Trip extends Pick<Finding, 'category' | 'action'> {
	readonly policy: string;
}

const engineFailed = '.failed';

export class EnginePanel {
	readonly #engines: readonly GuardrailEngine[];
	readonly #settings: Pick<GuardrailSettings, 'isEnforced' | 'teams'>;

	constructor(engines: readonly GuardrailEngine[], settings: Pick<GuardrailSettings, 'isEnforced' | 'teams'>) {
		this.#engines = engines;
		this.#settings = settings;
	}

	/** Moderation providers that may block the team's requests, which wait for them; none without enforcement. */
	stopping(team: string): readonly GuardrailEngine[] {
		return this.#engines.filter((engine) => this.#mayStop(engine, team));
	}

	/** Moderation providers that only monitor the team's requests: no request waits for them. */
	noting(team: string): readonly GuardrailEngine[] {
		return this.#engines.filter((engine) => this.#ruleOf(engine, team) !== 'none' && !this.#mayStop(engine, team));
	}

	/**
	 * Requests evaluations from `engines`, a result of `stopping` or `noting`, within their timeouts. Categories are prefixed with the
	 * provider's name.
	 */
	async evaluate(
		engines: readonly GuardrailEngine[],
		texts: readonly string[],
		stage: Stage,
		requested: ModerationContext,
	): Promise<readonly Trip[]> {
		if (engines.length === 0 || texts.length === 0) return [];
		const trips = engines.map(async (engine): Promise<readonly Trip[]> => {
			const mayStop = this.#mayStop(engine, requested.team);
			const judgement = await engine.judge(texts, stage, requested);
			const tell = (category: string, blocks: boolean): Trip => ({
				policy: 'moderation',
				category: `${engine.name}.${category}`,
				action: blocks && mayStop ? 'BLOCK' : 'NONE',
			});
			const found = judgement.findings.map(({ category, isSure }) => tell(category, isSure));
			return judgement.outcome === 'failed' ? [...found, tell('failed', judgement.isBlocking)] : found;
		});
		return (await Promise.all(trips)).flat();
	}

	#ruleOf(engine: GuardrailEngine, team: string): ReturnType<typeof ruleOfEngine> {
		return ruleOfEngine(engine, this.#settings.teams[team]);
	}

	#mayStop(engine: GuardrailEngine, team: string): boolean {
		const rule = this.#ruleOf(engine, team);
		return this.#settings.isEnforced && (rule === 'block' || rule === 'mask');
	}
}

export function isEngineFailure({ policy, category }: Trip): boolean {
	return policy === 'moderation' && category.endsWith(engineFailed);
}
