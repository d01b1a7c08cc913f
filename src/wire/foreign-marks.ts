/**
 * What the answers of one vendor carry for its own next turn, in places where another vendor's format has none. It comes back in the
 * conversation; a provider that did not write it would refuse it, so it is taken out, and nothing is put in its place.
 */
import type { ClientDialectName } from '../core/dialect-name.ts';
import type { Steps } from '../core/steps.ts';
import { signatureOf } from './conversation/thought-signature.ts';
import { cutValues } from './json/locate-values.ts';
import { isJsonObject, type JsonBody, type JsonObject, parsingSteps } from './json/parse-body.ts';
import { spliceBody } from './json/splice-body.ts';

type Path = readonly (string | number)[];

/** Where a conversation goes whose bytes are passed on as they are. */
export interface SameFormatTarget {
	readonly format: ClientDialectName;
	/** The vendor's name of the model. */
	readonly knownAs: string;
}

const geminiName = /(?:^|\/)gemini-/;
const claudeName = /(?:^|[/.])claude-/;
/** Those that OpenAI serves itself; its open ones are served by others, who tell of reasoning. */
const openaiName = /^(?:ft:)?(?:gpt-(?!oss)|chatgpt-|o\d)/;

/** @param wanted as for `parseBody`. @returns the body itself, to the byte, where there is nothing to take out. */
export function* unmarkingSteps(body: JsonBody, { format, knownAs }: SameFormatTarget, wanted: ReadonlySet<string>): Steps<JsonBody> {
	if (!isMaybeMarked(body)) return body;
	const messages = body.members.messages as readonly unknown[];
	const paths = messages.flatMap((message: unknown, index): readonly Path[] => {
		if (!isJsonObject(message)) return [];
		const found = format === 'chat' ? foreignToChat(message, knownAs) : foreignToMessages(message, knownAs);
		return found.map((path) => ['messages', index, ...path]);
	});
	if (paths.length === 0) return body;
	yield;
	const bytes = spliceBody(body.bytes, cutValues(body.bytes, paths));
	yield;
	return yield* parsingSteps(bytes, wanted);
}

/** What most conversations are let through by: where this is false, `unmarkingSteps` changes nothing. */
export function isMaybeMarked({ members: { messages } }: JsonBody): boolean {
	return Array.isArray(messages) && messages.some(mayHoldMarks);
}

/** In whichever format, nothing is made of a message that has none of these. */
function mayHoldMarks(message: unknown): boolean {
	if (!isJsonObject(message)) return false;
	const { extra_content, thinking_blocks, reasoning_content, tool_calls, content } = message;
	const holdsOwn = extra_content !== undefined || thinking_blocks !== undefined || reasoning_content !== undefined;
	return holdsOwn || (Array.isArray(tool_calls) && tool_calls.some(isMarked)) || (Array.isArray(content) && content.some(isMarked));
}

function isMarked(item: unknown): boolean {
	return isJsonObject(item) && (item.extra_content !== undefined || item.signature !== undefined);
}

function foreignToChat(message: JsonObject, knownAs: string): readonly Path[] {
	const calls: readonly unknown[] = Array.isArray(message.tool_calls) ? message.tool_calls : [];
	return [
		...(geminiName.test(knownAs) ? [] : [...signaturesIn(message, []), ...signaturesOfEach(calls, ['tool_calls'])]),
		...(message.thinking_blocks !== undefined && !claudeName.test(knownAs) ? [['thinking_blocks']] : []),
		...(message.reasoning_content !== undefined && openaiName.test(knownAs) ? [['reasoning_content']] : []),
	];
}

/** Thinking that is not signed is not Claude's; other vendors that speak its format may sign nothing. */
function foreignToMessages({ content }: JsonObject, knownAs: string): readonly Path[] {
	if (!Array.isArray(content)) return [];
	const blocks: readonly unknown[] = content;
	const unsigned = claudeName.test(knownAs) ? blocks.flatMap((block, index) => (isUnsigned(block) ? [index] : [])) : [];
	// A message without content is refused as well.
	if (unsigned.length > 0 && unsigned.length === blocks.length) return [[]];
	return [...(geminiName.test(knownAs) ? [] : signaturesOfEach(blocks, ['content'])), ...unsigned.map((index): Path => ['content', index])];
}

function isUnsigned(block: unknown): boolean {
	return isJsonObject(block) && block.type === 'thinking' && block.signature === '';
}

function signaturesOfEach(items: readonly unknown[], path: Path): readonly Path[] {
	return items.flatMap((item, index) => (isJsonObject(item) ? signaturesIn(item, [...path, index]) : []));
}

/** The whole of `extra_content` where there is nothing else in it. */
function signaturesIn(holder: JsonObject, path: Path): readonly Path[] {
	if (signatureOf(holder) === undefined) return [];
	const { extra_content } = holder;
	const google = isJsonObject(extra_content) ? extra_content.google : undefined;
	const own = [...path, 'extra_content'];
	if (isJsonObject(extra_content) && Object.keys(extra_content).length > 1) {
		return isJsonObject(google) && Object.keys(google).length > 1 ? [[...own, 'google', 'thought_signature']] : [[...own, 'google']];
	}
	return isJsonObject(google) && Object.keys(google).length > 1 ? [[...own, 'google', 'thought_signature']] : [own];
}
