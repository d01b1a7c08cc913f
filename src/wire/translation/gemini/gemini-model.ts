import type { TranslationTarget } from '../translation.ts';

/** What a Gemini model takes, as far as its request depends on it. */
export interface GeminiModel {
	/** How much to think is said in tokens, or in levels. */
	readonly thinking: 'none' | 'budget' | 'level';
	/** Of `thinkingLevel`, from the least to the greatest. */
	readonly levels: readonly string[];
	/** Of `thinkingBudget`, where it is not 0. */
	readonly leastBudget: number;
	readonly mostBudget: number;
	/** Whether a budget of 0 turns thinking off. */
	readonly mayDisableThinking: boolean;
	/** Function calls must come back with the signature of the thought that led to them. */
	readonly needsSignatures: boolean;
}

const unthinking: GeminiModel = {
	thinking: 'none',
	levels: [],
	leastBudget: 0,
	mostBudget: 0,
	mayDisableThinking: false,
	needsSignatures: false,
};

/** What its operator says of it, else what its name tells. */
export function geminiModelOf({ model, knownAs, capabilities = {} }: TranslationTarget): GeminiModel {
	const named = geminiModel(knownAs ?? model);
	const { thinking, efforts } = capabilities;
	if (thinking === 'none') return { ...named, thinking };
	const told: GeminiModel['thinking'] | undefined = thinking && (thinking === 'enabled' ? 'budget' : 'level');
	return { ...named, thinking: told ?? named.thinking, levels: efforts ?? named.levels };
}

/** By the name at the provider. An unknown model is taken for one of the newest family. */
export function geminiModel(name: string): GeminiModel {
	const base = name.replace(/^models\//, '');
	if (base.startsWith('gemma-')) return unthinking;
	const version = Number(/^gemini-(\d+(?:\.\d+)?)/.exec(base)?.[1] ?? Number.POSITIVE_INFINITY);
	const isPro = base.includes('pro');
	if (version < 2.5) return unthinking;
	if (version < 3) {
		return {
			...unthinking,
			thinking: 'budget',
			leastBudget: budgetFloor(base, isPro),
			mostBudget: isPro ? 32_768 : 24_576,
			mayDisableThinking: !isPro,
		};
	}
	return { ...unthinking, thinking: 'level', levels: levelsOf(version, isPro), needsSignatures: true };
}

function budgetFloor(base: string, isPro: boolean): number {
	if (isPro) return 128;
	return base.includes('lite') ? 512 : 1;
}

function levelsOf(version: number, isPro: boolean): readonly string[] {
	if (!isPro) return ['minimal', 'low', 'medium', 'high'];
	return version < 3.1 ? ['low', 'high'] : ['low', 'medium', 'high'];
}
