import type { InputContent } from '../../core/cost-factors.ts';
import { contextWindowOf, mostInputTokensOf } from './model-limits.ts';

/** How much a request gives a model to read, from its bytes: nothing is tokenised before a call. */

export interface InputSize {
	/** About what the provider would count; a few tenths off either way for text, more for attachments. */
	readonly writtenTokens: number;
	/** The same, but no more than the model can read: what exceeds that is refused, not charged. */
	readonly estimatedTokens: number;
	/**
	 * The provider will not count more. A token of text has at least one byte, and the JSON around a message has more bytes than a
	 * provider adds to it. The texts that providers add for tools and schemas have a fixed allowance. The size of an attachment cannot
	 * be seen in its bytes, nor what tools of the provider's own will read: these are bounded by the model's context window, the latter
	 * once a round.
	 */
	readonly highestTokens: number;
}

/** Providers put instructions of their own before tools, and others before a schema. */
const addedTokensForTools = 2048;
const addedTokensForSchema = 2048;
const addedTokensPerDefinedTool = 2048;
/** An image of usual size; documents and recordings may be more. */
const estimatedTokensPerAttachment = 1500;
/** After so many rounds of its own tools a provider pauses. */
const serverToolRounds = 10;

/** What a request is written in. */
interface InputText {
	readonly bytes: Buffer;
	readonly isAscii: boolean;
}

/** @param content what the dialect of the request knows of it. @param model its name at the provider. */
export function measureInput(text: InputText, content: InputContent, model: string): InputSize {
	const { attachments, attachedBytes, hasTools, hasSchema, definedTools, serverTools } = content;
	const writtenTokens = estimateTextTokens(text, attachedBytes) + attachments * estimatedTokensPerAttachment;
	const most = mostInputTokensOf(model);
	const estimatedTokens = Math.min(writtenTokens, most);
	const rounds = serverTools > 0 ? serverToolRounds : Math.min(attachments, 1);
	const added = (hasTools ? addedTokensForTools : 0) + (hasSchema ? addedTokensForSchema : 0) + definedTools * addedTokensPerDefinedTool;
	const highestTokens = rounds > 0 ? Math.max(estimatedTokens, contextWindowOf(model) * rounds) : Math.min(text.bytes.length + added, most);
	return { writtenTokens, estimatedTokens, highestTokens };
}

const maxSamples = 256;
const bytesPerAsciiToken = 4;
/** A Chinese, Japanese or Korean character is three bytes and about one token. */
const bytesPerOtherToken = 3;

/** Rounded up; at least 1. */
function estimateTextTokens({ bytes, isAscii }: InputText, attachedBytes: number): number {
	const textBytes = Math.max(0, bytes.length - attachedBytes);
	const otherBytes = isAscii ? 0 : Math.min(textBytes, otherShare(bytes) * bytes.length);
	return Math.max(1, Math.ceil((textBytes - otherBytes) / bytesPerAsciiToken + otherBytes / bytesPerOtherToken));
}

/** Of bytes that are not ASCII, taken from samples: the cost does not grow with the body. */
function otherShare(bytes: Buffer): number {
	const step = Math.ceil(bytes.length / maxSamples) | 1;
	let samples = 0;
	let others = 0;
	for (let at = 0; at < bytes.length; at += step) {
		samples++;
		if ((bytes[at] ?? 0) > 0x7f) others++;
	}
	return samples === 0 ? 0 : others / samples;
}

/** What a choice usually comes to at most; the few longer ones are corrected when they are settled. */
const usualOutputTokens = 1024;

/**
 * About what a call will write: no bound. For that see `capFor`.
 * @param capTokens of one choice: the caller's cap, or what the model can write.
 * @param choices how many answers the caller asks for.
 */
export function estimatedOutputTokens(capTokens: number, choices: number): number {
	return Math.min(capTokens, usualOutputTokens) * choices;
}
