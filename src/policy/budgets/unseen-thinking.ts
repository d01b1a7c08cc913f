/** Whether what is seen of an answer says little of what it costs, because its model may have thought without showing it. */
import { remembering } from '../../core/bounded-map.ts';

export interface ThinkingCall {
	/** Of the provider. */
	readonly kind: string;
	/** The vendor's name of the model, as far as it is known. */
	readonly knownAs: string;
	/** What the operator says of the model: whether it thinks at all. */
	readonly thinking: 'none' | 'enabled' | 'adaptive' | undefined;
	/** Whether the request asks for thinking, or turns it off; undefined: it does not say. */
	readonly asked: boolean | undefined;
}

/** When a model thinks: whatever is asked, unless it is told not to, or only when told to. Undefined: nothing is known of it. */
type Habit = 'always' | 'by_itself' | 'when_asked' | undefined;

/** The first that the name holds decides, wherever it stands: vendors, `ft:`, regions and operators' own words come before it. */
const habits: readonly (readonly [name: RegExp, habit: Exclude<Habit, undefined>])[] = [
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
 * By what the request asks for, else by the model's name. Of a model that nothing is known of: true where a vendor hides what is thought,
 * false of servers that are compatible with it, which show all that they write.
 */
export function mayThinkUnseen({ kind, knownAs, thinking, asked }: ThinkingCall): boolean {
	if (asked === true) return true;
	if (thinking !== undefined) return thinking !== 'none';
	const habit = habitOf(knownAs);
	if (asked === false && habit !== 'always') return false;
	return habit === undefined ? kind !== 'openai-compatible' : habit !== 'when_asked';
}

const habitOf = remembering(1000, (model) => readHabit(model.toLowerCase()));

function readHabit(name: string): Habit {
	const [, base = name] = /(?:^|\/)ft:([^:]+)/.exec(name) ?? [];
	return habits.find(([pattern]) => pattern.test(base))?.[1];
}
