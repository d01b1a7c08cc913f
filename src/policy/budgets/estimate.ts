import type { InputContent, MeasuredInput, PromptSize } from '../../core/cost-factors.ts';
import { contextWindowOf, maxInputTokensOf } from './model-output-limits.ts';

/** Input tokens of a request, derived from its bytes, because requests are not tokenised before they are sent. */

export interface InputSize {
	/** Estimate of the provider's count; off by a few tenths for text, by more for attachments. */
	readonly writtenTokens: number;
	/** Estimate limited to the model's context, because the provider rejects longer input without a charge. */
	readonly estimatedTokens: number;
	/**
	 * Upper bound of the provider's count.
	 * - Text: a token has at least one byte, and the JSON around a message has more bytes than a provider adds to it.
	 * - Prompts: the bytes of their texts, their token ids, and a fixed allowance for each text.
	 * - Tools and schemas: a fixed allowance for the texts that providers add.
	 * - Attachments: the model's context window, because the bytes do not show their size.
	 * - Input of the provider's own tools: the context window once for each round.
	 */
	readonly highestTokens: number;
}

/** Instructions that providers add before tools, and before a schema. */
const addedTokensForTools = 2048;
const addedTokensForSchema = 2048;
const addedTokensPerDefinedTool = 2048;
/** Tokens of an image of usual size; documents and recordings may have more. */
const estimatedTokensPerAttachment = 1500;
/** Maximum rounds of its own tools after which a provider pauses. */
export const serverToolRounds = 10;
/** Maximum calls of such tools in these rounds, for a provider that limits calls: the last round responds to the last call. */
export const maxServerToolCalls = serverToolRounds - 1;

/** Body text of a request. */
interface InputText {
	readonly bytes: Buffer;
	readonly isAscii: boolean;
}

/** @param content content of the request as its dialect parsed it. @param model its name at the provider. */
export function measureInput(text: InputText, content: InputContent, model: string): InputSize {
	const measured = measureText(text, content);
	return { writtenTokens: measured.writtenTokens, ...inputTokensFor(measured, model) };
}

/** Measures the input of a request for any model. @param content content of the request as its dialect parsed it. */
export function measureText(text: InputText, content: InputContent): MeasuredInput {
	if (content.prompt !== undefined) return measurePrompt(text, content.prompt);
	const { attachments, attachedBytes, hasTools, hasSchema, definedTools, serverTools } = content;
	const writtenTokens =
		estimateTextTokens(text, Math.max(0, text.bytes.length - attachedBytes)) + attachments * estimatedTokensPerAttachment;
	const added = (hasTools ? addedTokensForTools : 0) + (hasSchema ? addedTokensForSchema : 0) + definedTools * addedTokensPerDefinedTool;
	const contextWindows = serverTools > 0 ? serverToolRounds : Math.min(attachments, 1);
	return { writtenTokens, boundTokens: text.bytes.length + added, contextWindows, prompts: 1 };
}

/** Limits a measured input to what a model accepts. @param model its name at the provider. */
export function inputTokensFor(
	{ writtenTokens, boundTokens, contextWindows, prompts }: MeasuredInput,
	model: string,
): Omit<InputSize, 'writtenTokens'> {
	const max = prompts * maxInputTokensOf(model);
	const estimatedTokens = Math.min(writtenTokens, max);
	const highestTokens =
		contextWindows > 0 ? Math.max(estimatedTokens, contextWindowOf(model) * contextWindows) : Math.min(boundTokens, max);
	return { estimatedTokens, highestTokens };
}

/** Tokens that mark the begin and the end of a text. */
const addedTokensPerText = 2;

function measurePrompt(text: InputText, { count, texts, bytes, tokenIds }: PromptSize): MeasuredInput {
	const writtenTokens = Math.max(1, tokenIds + (texts === 0 ? 0 : Math.max(texts, estimateTextTokens(text, bytes))));
	const boundTokens = Math.max(writtenTokens, tokenIds + bytes + texts * addedTokensPerText);
	return { writtenTokens, boundTokens, contextWindows: 0, prompts: count };
}

const maxSamples = 256;
const bytesPerAsciiToken = 4;
/** A Chinese, Japanese or Korean character has three bytes and is about one token. */
const bytesPerOtherToken = 3;

/** Estimates tokens of the text in a body, rounded up; at least 1. */
function estimateTextTokens({ bytes, isAscii }: InputText, textBytes: number): number {
	const otherBytes = isAscii ? 0 : Math.min(textBytes, otherShare(bytes) * bytes.length);
	return Math.max(1, Math.ceil((textBytes - otherBytes) / bytesPerAsciiToken + otherBytes / bytesPerOtherToken));
}

/** Returns the share of non-ASCII bytes from samples, so that the time does not grow with the body. */
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

/** Usual maximum output of a choice; settlement corrects the few longer ones. */
const typicalOutputTokens = 1024;

/**
 * Estimates the output tokens of a request; for an upper bound see `capFor`.
 * @param capTokens of one choice: the client's limit, or the model's maximum output.
 * @param choices number of choices that the client requests.
 */
export function estimatedOutputTokens(capTokens: number, choices: number): number {
	return Math.min(capTokens, typicalOutputTokens) * choices;
}
