/** Detects models that can use hidden reasoning tokens, whose cost the visible output does not show. */
import { memoize } from '../../core/bounded-map.ts';

export interface ReasoningRequest {
	readonly kind: string;
	/** Vendor's name of the model, if known. */
	readonly knownAs: string;
	/** Operator's setting for the model's reasoning. */
	readonly thinking: 'none' | 'enabled' | 'adaptive' | undefined;
	/** Reasoning as the request sets it; undefined: the request does not set it. */
	readonly requested: boolean | undefined;
}

/** Default of a model's reasoning: always on, on unless disabled, or on request only; undefined for an unknown model. */
type ThinkingDefault = 'always' | 'by_itself' | 'when_asked' | undefined;

/**
 * Habits by the first pattern that matches anywhere in the name, because vendors, `ft:`, regions and operators' own words can precede it.
 */
const habits: readonly (readonly [name: RegExp, thinkingDefault: Exclude<ThinkingDefault, undefined>])[] = [
	[/(?<![a-z0-9])gpt-[5-9][\d.]*-chat/, 'when_asked'],
	[/(?<![a-z0-9])(?:o\d+|gpt-?5)(?![a-z0-9.])/, 'always'],
	[/(?<![a-z])gpt-?(?:[5-9]|\d\d)(?!\d|-turbo)/, 'by_itself'],
	[/(?<![a-z])(?:chat)?gpt-?(?:3|4)/, 'when_asked'],
	[/claude-(?:instant|v?[12](?!\d))/, 'when_asked'],
	[/claude-3/, 'when_asked'],
	[/claude-[a-z]+-4(?:-[0-6])?(?!-?\d(?!\d{5}))/, 'when_asked'],
	[/claude/, 'by_itself'],
	[/gemini-(?:1|2\.0)/, 'when_asked'],
	[/gemini-(?:[3-9]|2\.5-pro)/, 'always'],
	[/gemini/, 'by_itself'],
];

/**
 * Decides in this order: a request that enables reasoning, the operator's setting, the request and the model's name. For an unknown model:
 * true for vendors that hide reasoning, false for compatible servers, which return all output.
 */
export function canHideReasoning({ kind, knownAs, thinking, requested }: ReasoningRequest): boolean {
	if (requested === true) return true;
	if (thinking !== undefined) return thinking !== 'none';
	const thinkingDefault = thinkingDefaultOf(knownAs);
	if (requested === false && thinkingDefault !== 'always') return false;
	return thinkingDefault === undefined ? kind !== 'openai-compatible' : thinkingDefault !== 'when_asked';
}

const thinkingDefaultOf = memoize(1000, (model) => readThinkingDefault(model.toLowerCase()));

function readThinkingDefault(name: string): ThinkingDefault {
	const [, base = name] = /(?:^|\/)ft:([^:]+)/.exec(name) ?? [];
	return habits.find(([pattern]) => pattern.test(base))?.[1];
}
