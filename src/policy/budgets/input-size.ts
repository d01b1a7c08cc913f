/** How much a request gives a model to read, from its bytes: nothing is tokenised before a call. */
import { contextWindowOf, mostInputTokensOf } from './model-limits.ts';

type Members = Readonly<Record<string, unknown>>;

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
const addedTokensPerTypedTool = 2048;
/** An image of usual size; documents and recordings may be more. */
const estimatedTokensPerAttachment = 1500;
/** After so many rounds of its own tools a provider pauses. */
const serverToolRounds = 10;

/** What a request is written in. */
export interface InputText {
	readonly bytes: Buffer;
	readonly isAscii: boolean;
}

/** @param members the text parsed: a request in either format. @param model its name at the provider. */
export function measureInput(text: InputText, members: Members, model: string): InputSize {
	const found: Found = { attachments: 0, attachedBytes: 0 };
	if (Array.isArray(members.messages)) for (const message of members.messages) measureMessage(message, found);
	measureParts(members.system, found);
	if (hasCachedContent(members)) found.attachments++;
	const { typed, serverSide, added } = measureTools(members);
	const writtenTokens = estimateTextTokens(text, found.attachedBytes) + found.attachments * estimatedTokensPerAttachment;
	const most = mostInputTokensOf(model);
	const estimatedTokens = Math.min(writtenTokens, most);
	const rounds = serverSide > 0 ? serverToolRounds : Math.min(found.attachments, 1);
	const highestTokens =
		rounds > 0
			? Math.max(estimatedTokens, contextWindowOf(model) * rounds)
			: Math.min(text.bytes.length + added + typed * addedTokensPerTypedTool, most);
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

interface Found {
	attachments: number;
	attachedBytes: number;
}

function measureMessage(message: unknown, found: Found): void {
	if (!isObject(message)) return;
	measureParts(message.content, found);
	// An earlier spoken answer, kept by the provider.
	if (isObject(message.audio)) found.attachments++;
}

/** Types of parts that are all text, or tool calls. Any other is taken for an attachment. */
const textTypes: ReadonlySet<unknown> = new Set(['text', 'refusal', 'thinking', 'redacted_thinking', 'tool_use', 'server_tool_use']);

function measureParts(content: unknown, found: Found): void {
	if (!Array.isArray(content)) return;
	for (const part of content as readonly unknown[]) {
		if (!isObject(part) || textTypes.has(part.type)) continue;
		if (part.type === 'tool_result') {
			measureParts(part.content, found);
			continue;
		}
		found.attachments++;
		found.attachedBytes += dataBytes(part);
	}
}

/** Base64 and addresses are ASCII. */
function dataBytes(part: Members): number {
	let bytes = 0;
	for (const holder of [part.source, part.image_url, part.input_audio, part.file]) {
		if (!isObject(holder)) continue;
		for (const data of [holder.data, holder.url, holder.file_data]) if (typeof data === 'string') bytes += data.length;
	}
	return bytes;
}

/** Typed tools that the caller runs; their definitions are the provider's. */
const callerRun = /^(?:bash|text_editor|memory|computer|browser)_/;

interface ToolSize {
	/** Tools that the provider defines and the caller runs. */
	readonly typed: number;
	/** Tools that the provider runs. */
	readonly serverSide: number;
	/** Tokens that the provider adds, but for typed tools. */
	readonly added: number;
}

function measureTools(members: Members): ToolSize {
	let typed = 0;
	let serverSide = 0;
	const added = (hasTools(members) ? addedTokensForTools : 0) + (hasSchema(members) ? addedTokensForSchema : 0);
	if (Array.isArray(members.tools)) {
		for (const tool of members.tools as readonly unknown[]) {
			const type = isObject(tool) ? tool.type : undefined;
			if (typeof type !== 'string' || type === 'function' || type === 'custom') continue;
			if (callerRun.test(type)) typed++;
			else serverSide++;
		}
	}
	if (isObject(members.web_search_options) || Array.isArray(members.mcp_servers)) serverSide++;
	return { typed, serverSide, added };
}

function hasTools({ tools, functions }: Members): boolean {
	return (Array.isArray(tools) && tools.length > 0) || (Array.isArray(functions) && functions.length > 0);
}

function hasSchema({ response_format, output_format, output_config }: Members): boolean {
	const format = isObject(output_config) ? output_config.format : undefined;
	return (isObject(response_format) && response_format.type !== 'text') || isObject(output_format) || isObject(format);
}

/** Content that the provider keeps, by Gemini's extension of chat completions: read in addition to the request. */
function hasCachedContent({ extra_body, google }: Members): boolean {
	return [google, isObject(extra_body) ? extra_body.google : undefined].some((own) => isObject(own) && own.cached_content !== undefined);
}

function isObject(value: unknown): value is Members {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
