import { memoize } from '../../../core/bounded-map.ts';
import { fitName, maxToolNameLength } from '../../conversation/fit-name.ts';
import type { ModelLimits } from '../../conversation/model-limits.ts';
import type { TranslationTarget } from '../../conversation/request-translation.ts';

/** Facts about a Gemini model that its request depends on. */
export interface GeminiModel extends ModelLimits {
	/** Thinking is set in tokens, or in levels. */
	readonly thinking: 'none' | 'budget' | 'level';
	/** Values of `thinkingLevel`, ascending. */
	readonly levels: readonly string[];
	/** Minimum of `thinkingBudget` other than 0. */
	readonly minBudget: number;
	readonly maxBudget: number;
	/** True if a budget of 0 turns thinking off. */
	readonly canDisableThinking: boolean;
	/** Function calls must be sent back with the signature of the thought that led to them. */
	readonly needsSignatures: boolean;
}

const unthinking: GeminiModel = {
	thinking: 'none',
	levels: [],
	minBudget: 0,
	maxBudget: 0,
	canDisableThinking: false,
	needsSignatures: false,
	takesSampling: true,
	temperatureMax: 2,
	takesStop: true,
	takesSchema: true,
};

/** Configured facts, otherwise those that follow from the name. */
export function geminiModelOf({ model, knownAs, ...said }: TranslationTarget): GeminiModel {
	const named = geminiModel(knownAs ?? model);
	return {
		...named,
		...(said.thinking !== undefined && requestedThinking(said.thinking, named)),
		...(said.efforts !== undefined && { levels: said.efforts }),
		takesSampling: said.sampling === undefined ? named.takesSampling : said.sampling === 'full',
		temperatureMax: said.temperatureMax ?? named.temperatureMax,
		takesStop: said.stop ?? named.takesStop,
		takesSchema: said.structuredOutput ?? named.takesSchema,
	};
}

/** If the configured kind of thinking differs from the name's, the limits of most models with that kind apply. */
function requestedThinking(
	reported: 'none' | 'enabled' | 'adaptive',
	named: GeminiModel,
): Pick<GeminiModel, 'thinking' | 'levels' | 'minBudget' | 'maxBudget'> {
	const { levels, minBudget, maxBudget } = named;
	if (reported === 'none') return { thinking: 'none', levels, minBudget, maxBudget };
	if (reported === 'adaptive') return { thinking: 'level', levels: levels.length > 0 ? levels : levelsOf(3.1, true), minBudget, maxBudget };
	return maxBudget > 0
		? { thinking: 'budget', levels, minBudget, maxBudget }
		: { thinking: 'budget', levels, minBudget: 128, maxBudget: 24_576 };
}

/** By the name at the provider. An unknown model is taken for one of the newest family. */
export const geminiModel = memoize(1000, modelNamed);

function modelNamed(name: string): GeminiModel {
	const base = name.replace(/^models\//, '');
	if (base.startsWith('gemma-')) return { ...unthinking, takesSchema: false };
	const version = Number(/^gemini-(\d+(?:\.\d+)?)/.exec(base)?.[1] ?? Number.POSITIVE_INFINITY);
	const isPro = base.includes('pro');
	if (version < 2.5) return unthinking;
	if (version < 3) {
		return {
			...unthinking,
			thinking: 'budget',
			minBudget: budgetFloor(base, isPro),
			maxBudget: isPro ? 32_768 : 24_576,
			canDisableThinking: !isPro,
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

/** Converts a tool's name for Gemini: like other vendors' names, but the first character is a letter or `_`. */
export function geminiToolName(name: string): string {
	if (/^[a-zA-Z_][a-zA-Z0-9_.:-]*$/.test(name) && name.length <= maxToolNameLength) return name;
	const fitted = fitName(name, maxToolNameLength - 1);
	return /^[a-zA-Z_]/.test(fitted) ? fitted : `_${fitted}`;
}
