import { splitModelName } from '../../faults/fault-names.ts';

/** Parameters that a model of the chat completions format accepts. A `sim-*` model without a base accepts all. */
export interface OpenAiModel {
	readonly isKnown: boolean;
	readonly isReasoning: boolean;
	readonly takesMaxTokens: boolean;
	readonly takesSampling: boolean;
	readonly takesStop: boolean;
	readonly takesEffort: boolean;
	/** Condition under which function tools need `reasoning_effort: "none"`. */
	readonly toolsNeedEffortNone: 'never' | 'when-set' | 'always';
	readonly countsCacheWrites: boolean;
	/** Labels its messages `commentary` or `final_answer` in the Responses API. */
	readonly hasPhases: boolean;
	/** Only API that serves the model; undefined when several do. */
	readonly onlyApi: 'responses' | 'completions' | undefined;
	/** Model name in the response. */
	readonly snapshot: string;
}

const knownNames =
	/^(?:gpt-(?:3\.5|4o?|4\.\d|[56](?:\.\d)?)|o[1-4]|chatgpt-4o|codex|computer-use|(?:davinci|babbage)-002)(?:-(?:mini|nano|pro|turbo|preview|latest|chat|codex|max|deep|research|audio|search|vision|instruct|16k|32k|\d{2,4}))*$/;

const snapshots: Readonly<Record<string, string>> = {
	'gpt-4o': 'gpt-4o-2024-08-06',
	'gpt-4o-mini': 'gpt-4o-mini-2024-07-18',
	'gpt-4.1': 'gpt-4.1-2025-04-14',
	'gpt-4.1-mini': 'gpt-4.1-mini-2025-04-14',
	'gpt-4.1-nano': 'gpt-4.1-nano-2025-04-14',
	'gpt-5': 'gpt-5-2025-08-07',
	'gpt-5-mini': 'gpt-5-mini-2025-08-07',
	'gpt-5-nano': 'gpt-5-nano-2025-08-07',
};

const onlyResponses = /^(?:o[13]-pro|o\d(?:-mini)?-deep-research|computer-use|gpt-5(?:\.\d)?-pro|gpt-5-codex|gpt-5\.1-codex|codex-mini)/;
const onlyCompletions = /^(?:gpt-3\.5-turbo-instruct|davinci-002|babbage-002)/;

export function openAiModel(name: string): OpenAiModel {
	const { base, faults } = splitModelName(name);
	const isReasoning = /^(?:o[1-4]|gpt-[56]|codex|computer-use)/.test(base);
	const version = Number(/^gpt-(\d+(?:\.\d+)?)/.exec(base)?.[1] ?? '0');
	return {
		isKnown: faults !== undefined || knownNames.test(name),
		isReasoning,
		takesMaxTokens: !isReasoning,
		takesSampling: !isReasoning,
		takesStop: !/^(?:o3|o4-mini|gpt-[56])/.test(base),
		takesEffort: isReasoning || !/^(?:gpt|chatgpt)-/.test(base),
		toolsNeedEffortNone: version >= 5.6 ? 'always' : version >= 5.4 ? 'when-set' : 'never',
		countsCacheWrites: version >= 5.6,
		hasPhases: version >= 5.4 || (version >= 5.3 && /codex/.test(base)),
		onlyApi: onlyResponses.test(base) ? 'responses' : onlyCompletions.test(base) ? 'completions' : undefined,
		snapshot: snapshots[name] ?? name,
	};
}
