import { memoize } from '../../../core/bounded-map.ts';
import type { ModelLimits } from '../../conversation/model-limits.ts';
import type { TranslationTarget } from '../../conversation/request-translation.ts';

/** Facts about a Claude model that its request depends on. */
export interface ClaudeModel extends ModelLimits {
	/** Version of the API, in the `anthropic-version` header field. */
	readonly version: string;
	/** A conversation may end with an assistant message. */
	readonly takesPrefill: boolean;
	/** The role `system` is supported inside the conversation. */
	readonly takesMidSystem: boolean;
	readonly thinking: 'none' | 'manual' | 'adaptive';
	/** True if models with adaptive thinking are known to take `thinking: {"type": "disabled"}`. */
	readonly canDisableThinking: boolean;
	/** Effort levels, ascending. */
	readonly efforts: readonly string[];
}

export const allEfforts: readonly string[] = ['low', 'medium', 'high', 'xhigh', 'max'];

/** The next version rejects any request that contains `temperature`, `top_p` or `top_k`. */
export const lastSamplingVersion = '2023-06-01';
const newestVersion = '2026-10-21';

/** `claude-3-7-sonnet-20250219` and `claude-opus-4-8`: the number before or after the family; a date is not a minor version. */
const familyLast = /^claude-(\d{1,2})(?:-(\d{1,2}))?-(opus|sonnet|haiku)(?:-|$)/;
const familyFirst = /^claude-([a-z]+)-(\d{1,2})(?:-(\d{1,2}))?(?:-|$)/;

interface ModelName {
	readonly family: string;
	/** 408 for 4.8. */
	readonly version: number;
}

/** Configured facts, otherwise those that follow from the name. */
export function claudeModelOf({ model, knownAs, ...said }: TranslationTarget): ClaudeModel {
	const named = claudeModel(knownAs ?? model);
	const { thinking, anthropicVersion } = said;
	const wantsSampling = said.sampling === undefined ? named.takesSampling : said.sampling === 'full';
	const version = anthropicVersion ?? (wantsSampling ? lastSamplingVersion : newestVersion);
	return {
		takesSampling: wantsSampling && version <= lastSamplingVersion,
		temperatureMax: said.temperatureMax ?? named.temperatureMax,
		takesStop: said.stop ?? named.takesStop,
		takesSchema: said.structuredOutput ?? named.takesSchema,
		version,
		takesPrefill: said.prefill ?? named.takesPrefill,
		takesMidSystem: said.midSystem ?? named.takesMidSystem,
		thinking: thinking === 'enabled' ? 'manual' : (thinking ?? named.thinking),
		canDisableThinking: named.canDisableThinking,
		efforts: said.efforts ?? named.efforts,
	};
}

/** By the name at the provider. An unknown model is taken for one of the newest family, which receives the fewest fields. */
export const claudeModel = memoize(1000, modelNamed);

function modelNamed(name: string): ClaudeModel {
	const known = readName(name);
	const version = known?.version ?? Number.POSITIVE_INFINITY;
	const takesSampling = version < 406 || (version === 406 && known?.family === 'opus');
	return {
		takesSampling,
		temperatureMax: 1,
		takesStop: true,
		takesSchema: version >= 405 || (version === 401 && known?.family === 'opus'),
		version: takesSampling ? lastSamplingVersion : newestVersion,
		takesPrefill: version < 406,
		takesMidSystem: known !== undefined && version >= 408,
		thinking: thinkingOf(version),
		canDisableThinking: known !== undefined && version >= 406 && ['opus', 'sonnet', 'haiku'].includes(known.family),
		efforts: version === 406 ? allEfforts.filter((effort) => effort !== 'xhigh') : allEfforts,
	};
}

function thinkingOf(version: number): ClaudeModel['thinking'] {
	if (version < 307) return 'none';
	return version < 406 ? 'manual' : 'adaptive';
}

function readName(name: string): ModelName | undefined {
	const last = familyLast.exec(name);
	if (last !== null) return { family: last[3] ?? '', version: versionNumber(last[1], last[2]) };
	const first = familyFirst.exec(name);
	return first === null ? undefined : { family: first[1] ?? '', version: versionNumber(first[2], first[3]) };
}

function versionNumber(major: string | undefined, minor: string | undefined): number {
	return Number(major) * 100 + Number(minor ?? 0);
}
