/** Which engines the calls of a team are shown to, by rule, and what becomes of what they say. */
import type { Finding, Stage } from '../../../policy/guardrails/guardrail.ts';
import type { GuardrailSettings } from '../../../policy/guardrails/guardrails.ts';
import { ruleOfEngine } from '../../../policy/guardrails/verdicts.ts';
import type { Asked, GuardrailEngine } from './guardrail-engines.ts';

/** What tripped, as it is told. */
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

	/** Engines that may block the team's calls, which wait for them; none where nothing is enforced. */
	stopping(team: string): readonly GuardrailEngine[] {
		return this.#engines.filter((engine) => this.#mayStop(engine, team));
	}

	/** Engines whose findings about the team's calls are only noted: nothing waits for them. */
	noting(team: string): readonly GuardrailEngine[] {
		return this.#engines.filter((engine) => this.#ruleOf(engine, team) !== 'none' && !this.#mayStop(engine, team));
	}

	/**
	 * Never longer than the engines' own limits. Their categories bear their names.
	 * @param engines of `stopping` or `noting`.
	 */
	async ask(engines: readonly GuardrailEngine[], texts: readonly string[], stage: Stage, asked: Asked): Promise<readonly Trip[]> {
		if (engines.length === 0 || texts.length === 0) return [];
		const trips = engines.map(async (engine): Promise<readonly Trip[]> => {
			const mayStop = this.#mayStop(engine, asked.team);
			const judgement = await engine.judge(texts, stage, asked);
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
