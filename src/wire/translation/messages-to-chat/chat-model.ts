import type { TranslationTarget } from '../translation.ts';

/** What a model behind chat completions takes, as far as its request depends on it. */
export interface ChatModel {
	/** What limits the output: reasoning models refuse the older name, servers of other vendors may not know the newer one. */
	readonly capMember: 'max_tokens' | 'max_completion_tokens';
	/** Other values of `temperature` and `top_p` than 1. */
	readonly takesSampling: boolean;
	readonly takesStop: boolean;
	readonly takesParallelFlag: boolean;
	/** Instructions in this role. */
	readonly instructionRole: 'system' | 'developer';
	/** Texts as a list of parts, which keeps the borders by which prompts are cached. Servers of other vendors may want strings. */
	readonly takesTextParts: boolean;
	/** Of `reasoning_effort`, from the least to the greatest. Empty: it takes none. */
	readonly efforts: readonly string[];
	/** Function tools are refused unless `reasoning_effort` is `none`. */
	readonly toolsNeedNoEffort: boolean;
	/** Calls come back with the signature that they were made with. */
	readonly takesSignatures: boolean;
}

const classicEfforts = ['low', 'medium', 'high'] as const;

const compatible: ChatModel = {
	capMember: 'max_tokens',
	takesSampling: true,
	takesStop: true,
	takesParallelFlag: true,
	instructionRole: 'system',
	takesTextParts: false,
	efforts: classicEfforts,
	toolsNeedNoEffort: false,
	takesSignatures: false,
};

const classic: ChatModel = { ...compatible, takesTextParts: true, efforts: [] };

const reasoning: ChatModel = {
	...classic,
	capMember: 'max_completion_tokens',
	takesSampling: false,
	instructionRole: 'developer',
	efforts: classicEfforts,
};

/** What its operator says of it, else what its name tells. */
export function chatModelOf({ model, knownAs, capabilities = {} }: TranslationTarget): ChatModel {
	const named = chatModel(knownAs ?? model);
	const { capMember, sampling, stop, instructionRole, efforts, thinking, toolsNeedNoEffort } = capabilities;
	return {
		...named,
		capMember: capMember ?? named.capMember,
		takesSampling: sampling ?? named.takesSampling,
		takesStop: stop ?? named.takesStop,
		instructionRole: instructionRole ?? named.instructionRole,
		efforts: efforts ?? (thinking === 'none' ? [] : named.efforts),
		toolsNeedNoEffort: toolsNeedNoEffort ?? named.toolsNeedNoEffort,
	};
}

/** By the name at the provider. A name that is none of OpenAI's is taken for a model of another vendor behind a compatible server. */
export function chatModel(name: string): ChatModel {
	// Fine-tuned models are named `ft:<model>:...`, and resellers put the vendor before a slash.
	const base = name.slice(name.lastIndexOf('/') + 1).replace(/^ft:/, '');
	const generation = /^o(\d)(-mini)?(?:-|$)/.exec(base);
	if (generation !== null) {
		const takesStop = !(generation[1] === '3' && generation[2] === undefined) && !(generation[1] === '4' && generation[2] !== undefined);
		return { ...reasoning, takesStop, takesParallelFlag: false };
	}
	const version = versionOf(base);
	if (version >= 5) return { ...reasoning, takesStop: false, efforts: effortsOf(version, base), toolsNeedNoEffort: version >= 5.4 };
	return version >= 3 || base.startsWith('chatgpt-') ? classic : compatible;
}

/** Azure's own names leave the point out: `gpt-35-turbo`. NaN for what is none of the family. */
function versionOf(base: string): number {
	const version = Number(/^gpt-(\d+(?:\.\d+)?)/.exec(base)?.[1]);
	return version > 10 && Number.isInteger(version) ? version / 10 : version;
}

function effortsOf(version: number, base: string): readonly string[] {
	if (base.includes('-chat')) return [];
	if (version < 5.1) return ['minimal', ...classicEfforts];
	return version < 5.2 ? ['none', ...classicEfforts] : ['none', ...classicEfforts, 'xhigh'];
}
