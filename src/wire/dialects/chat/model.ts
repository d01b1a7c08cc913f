import { memoize } from '../../../core/bounded-map.ts';
import type { ModelLimits } from '../../conversation/model-limits.ts';
import type { TranslationTarget } from '../../conversation/request-translation.ts';

/** Facts about a chat completions model that its request depends on. */
export interface ChatModel extends ModelLimits {
	/** Field that caps the output. Reasoning models reject the older name; servers of other vendors may not support the newer one. */
	readonly tokenParam: 'max_tokens' | 'max_completion_tokens';
	readonly takesParallelFlag: boolean;
	/** Role of instructions. */
	readonly systemRole: 'system' | 'developer';
	/** True to send texts as a list of parts, which keeps the boundaries for prompt caching. Servers of other vendors may require strings. */
	readonly takesTextParts: boolean;
	/** Values of `reasoning_effort`, ascending. Empty if the model takes none. */
	readonly efforts: readonly string[];
	/** True if function tools are rejected unless `reasoning_effort` is `none`. */
	readonly toolsNeedEffortNone: boolean;
	/** True if tool calls are rejected without the reasoning of their turn. */
	readonly needsReasoningContent: boolean;
	/** True for a model of OpenAI's, which accepts fields that servers of other vendors may reject. */
	readonly isOpenAI: boolean;
	/** True if calls must be sent back with their signature. */
	readonly takesSignatures: boolean;
}

const classicEfforts = ['low', 'medium', 'high'] as const;

const compatible: ChatModel = {
	tokenParam: 'max_tokens',
	takesSampling: true,
	temperatureMax: 2,
	takesStop: true,
	takesParallelFlag: true,
	systemRole: 'system',
	takesTextParts: false,
	efforts: classicEfforts,
	toolsNeedEffortNone: false,
	needsReasoningContent: false,
	takesSchema: true,
	isOpenAI: false,
	takesSignatures: false,
};

const classic: ChatModel = { ...compatible, isOpenAI: true, takesTextParts: true, efforts: [] };

const reasoning: ChatModel = {
	...classic,
	tokenParam: 'max_completion_tokens',
	takesSampling: false,
	systemRole: 'developer',
	efforts: classicEfforts,
};

/** Configured facts, otherwise those that follow from the name. */
export function chatModelOf({ model, knownAs, ...said }: TranslationTarget): ChatModel {
	const named = chatModel(knownAs ?? model);
	return {
		...named,
		tokenParam: said.tokenParam ?? named.tokenParam,
		takesSampling: said.sampling === undefined ? named.takesSampling : said.sampling === 'full',
		temperatureMax: said.temperatureMax ?? named.temperatureMax,
		takesStop: said.stop ?? named.takesStop,
		systemRole: said.systemRole ?? named.systemRole,
		efforts: said.efforts ?? knownEfforts(said.thinking, named),
		toolsNeedEffortNone: said.toolsNeedEffortNone ?? named.toolsNeedEffortNone,
		needsReasoningContent: said.needsReasoningContent ?? named.needsReasoningContent,
		takesSchema: said.structuredOutput ?? named.takesSchema,
	};
}

function knownEfforts(thinking: TranslationTarget['thinking'], { efforts }: ChatModel): readonly string[] {
	if (thinking === undefined) return efforts;
	if (thinking === 'none') return [];
	return efforts.length > 0 ? efforts : classicEfforts;
}

/** By the name at the provider. A name outside OpenAI's scheme is taken for another vendor's model behind a compatible server. */
export const chatModel = memoize(1000, modelNamed);

function modelNamed(name: string): ChatModel {
	// Fine-tuned models are named `ft:<model>:...`, and resellers put the vendor before a slash.
	const base = name.slice(name.lastIndexOf('/') + 1).replace(/^ft:/, '');
	const generation = /^o(\d)(-mini)?(?:-|$)/.exec(base);
	if (generation !== null) {
		const takesStop = !(generation[1] === '3' && generation[2] === undefined) && !(generation[1] === '4' && generation[2] !== undefined);
		return { ...reasoning, takesStop, takesParallelFlag: false, takesSchema: !/^o1-(mini|preview)/.test(base) };
	}
	const version = versionOf(base);
	if (version >= 5) return { ...reasoning, takesStop: false, efforts: effortsOf(version, base), toolsNeedEffortNone: version >= 5.4 };
	if (version >= 3) return { ...classic, takesSchema: version >= 4.1 || base.startsWith('gpt-4o') };
	if (base.startsWith('chatgpt-')) return classic;
	return { ...compatible, needsReasoningContent: /^deepseek-(?!.*distill)/i.test(base) };
}

/** Azure's own names omit the dot: `gpt-35-turbo`. NaN for models outside the family. */
function versionOf(base: string): number {
	const version = Number(/^gpt-(\d+(?:\.\d+)?)/.exec(base)?.[1]);
	return version > 10 && Number.isInteger(version) ? version / 10 : version;
}

function effortsOf(version: number, base: string): readonly string[] {
	if (base.includes('-chat')) return [];
	if (version < 5.1) return ['minimal', ...classicEfforts];
	return version < 5.2 ? ['none', ...classicEfforts] : ['none', ...classicEfforts, 'xhigh'];
}
