import type { Usage } from '../../core/usage.ts';
import type { JsonObject } from '../json/parse-body.ts';
import { WantedKeys } from './key-scan.ts';
import { usageOfChat, usageOfGemini, usageOfMessages } from './told-usage.ts';

/** What a model writes: a text, a thought, what seals a thought, the object of a tool's arguments, or sound and images in base64. */
export type WrittenKind = 'text' | 'thought' | 'seal' | 'object' | 'media';

/** Where the answers of one wire format tell of usage, and how to read it. */
export interface UsageReader {
	/**
	 * What is looked for: the member whose value tells of usage, then names whose values the model wrote, then others. Where usage must be
	 * asked for these are the list of choices and what keeps an event in which it is empty; else a member of an event that holds an object
	 * which may have the first too, about the call's beginning.
	 */
	readonly wanted: WantedKeys;
	/** What stands at each name; undefined at the first. Ends before the others. */
	readonly written: readonly (WrittenKind | undefined)[];
	/** Whether a caller must ask for usage in a stream of this format. */
	readonly mustBeAsked: boolean;
	/** Whether its streams show that a model thought, though not always what. */
	readonly showsThought: boolean;
	/** What an event tells, on top of what earlier ones told. */
	merge(earlier: JsonObject | undefined, told: JsonObject): JsonObject;
	/** @returns undefined when nothing sound is told. */
	usageOf(told: unknown): Usage | undefined;
}

/** The last event that tells is right. */
const last = (_earlier: JsonObject | undefined, told: JsonObject): JsonObject => told;

/** An event with usage and an empty list of choices is about usage alone, unless it has one of these. */
const otherNews = ['moderation', 'prompt_filter_results'];

export const chatUsage: UsageReader = {
	...wanting(
		'usage',
		{ text: ['content', 'refusal', 'reasoning', 'reasoning_content', 'arguments', 'input', 'transcript'], media: ['data'] },
		['choices', ...otherNews],
	),
	mustBeAsked: true,
	showsThought: false,
	merge: last,
	usageOf: usageOfChat,
};

export const messagesUsage: UsageReader = {
	// `message_start` holds a message.
	...wanting('usage', { text: ['text', 'partial_json'], thought: ['thinking'], seal: ['signature', 'data'], object: ['input'] }, [
		'message',
	]),
	mustBeAsked: false,
	showsThought: true,
	/** Totals of the whole message: a later count replaces an earlier one; absent and null ones leave it. */
	merge: (earlier, told) => ({ ...earlier, ...Object.fromEntries(Object.entries(told).filter(([, value]) => value !== null)) }),
	usageOf: usageOfMessages,
};

export const geminiUsage: UsageReader = {
	...wanting('usageMetadata', { text: ['text', 'stringValue'], object: ['args'], media: ['data'] }, []),
	mustBeAsked: false,
	showsThought: false,
	merge: last,
	usageOf: usageOfGemini,
};

function wanting(
	member: string,
	names: Partial<Record<WrittenKind, readonly string[]>>,
	others: readonly string[],
): Pick<UsageReader, 'wanted' | 'written'> {
	const kinds = Object.entries(names).flatMap(([kind, ofKind]) => ofKind.map((name) => [name, kind as WrittenKind] as const));
	return {
		wanted: new WantedKeys([member, ...kinds.map(([name]) => name), ...others]),
		written: [undefined, ...kinds.map(([, kind]) => kind)],
	};
}
