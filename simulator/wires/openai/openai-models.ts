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
	/** Model name in the response. */
	readonly snapshot: string;
}

const knownNames =
	/^(?:gpt-(?:3\.5|4o?|4\.\d|5(?:\.\d)?)|o[1-4]|chatgpt-4o)(?:-(?:mini|nano|pro|turbo|preview|latest|chat|codex|audio|search|vision|instruct|16k|32k|\d{2,4}))*$/;

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

export function openAiModel(name: string): OpenAiModel {
	const { base, faults } = splitModelName(name);
	const isReasoning = /^(?:o[1-4]|gpt-5)/.test(base);
	const version = Number(/^gpt-(\d+(?:\.\d+)?)/.exec(base)?.[1] ?? '0');
	return {
		isKnown: faults !== undefined || knownNames.test(name),
		isReasoning,
		takesMaxTokens: !isReasoning,
		takesSampling: !isReasoning,
		takesStop: !/^(?:o3|o4-mini|gpt-5)/.test(base),
		takesEffort: isReasoning || !/^(?:gpt|chatgpt)-/.test(base),
		toolsNeedEffortNone: version >= 5.6 ? 'always' : version >= 5.4 ? 'when-set' : 'never',
		countsCacheWrites: version >= 5.6,
		snapshot: snapshots[name] ?? name,
	};
}
