import { splitModelName } from '../../faults/fault-names.ts';

/** Parameters that a Claude model accepts. A `sim-*` model without a known base accepts all. */
export interface AnthropicModel {
	readonly isKnown: boolean;
	/** Accepts any `temperature`, `top_p`, `top_k`, under API version 2023-06-01. */
	readonly takesSampling: boolean;
	readonly takesPrefill: boolean;
	/** Accepts `system` as a role inside `messages`. */
	readonly takesMidSystem: boolean;
	readonly takesManualThinking: boolean;
	readonly takesAdaptiveThinking: boolean;
	readonly efforts: readonly string[];
	/** Signs reasoning, and returns its text only on request. */
	readonly hidesThinking: boolean;
	/** Model name in the response. */
	readonly snapshot: string;
}

const knownNames = /^claude-(?:3(?:-[57])?-(?:opus|sonnet|haiku)|(?:opus|sonnet|haiku|fable|mythos)-\d+(?:-\d)?)(?:-(?:\d{8}|latest))?$/;

const snapshots: Readonly<Record<string, string>> = {
	'claude-sonnet-4-5': 'claude-sonnet-4-5-20250929',
	'claude-haiku-4-5': 'claude-haiku-4-5-20251001',
	'claude-opus-4-5': 'claude-opus-4-5-20251101',
};

const allEfforts = ['low', 'medium', 'high', 'xhigh', 'max'];

export function anthropicModel(name: string): AnthropicModel {
	const { base, faults } = splitModelName(name);
	const version = versionOf(base);
	const takesAll = version === undefined;
	return {
		isKnown: faults !== undefined || knownNames.test(name),
		takesSampling: takesAll || version < 4.6 || base === 'claude-opus-4-6',
		takesPrefill: takesAll || version < 4.6,
		takesMidSystem: takesAll || version >= 4.8,
		takesManualThinking: takesAll || (version >= 3.7 && version <= 4.6),
		takesAdaptiveThinking: takesAll || version >= 4.6,
		efforts: version === 4.6 ? ['low', 'medium', 'high', 'max'] : allEfforts,
		hidesThinking: base.startsWith('claude-sonnet-5'),
		snapshot: snapshots[name] ?? name,
	};
}

function versionOf(base: string): number | undefined {
	const match = /^claude-(?:(\d)(?:-(\d))?-(?:opus|sonnet|haiku)|[a-z]+-(\d+)(?:-(\d))?)(?:-|$)/.exec(base);
	if (match === null) return undefined;
	return Number(`${match[1] ?? match[3]}.${match[2] ?? match[4] ?? '0'}`);
}
