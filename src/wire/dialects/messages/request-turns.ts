import type {
	AssistantPart,
	Capability,
	ContentPart,
	FilePart,
	MediaSource,
	ResultsTurn,
	TextPart,
	ToolCall,
	Turn,
} from '../../conversation/conversation.ts';
import { cacheMarkOf, signedReasoningOf, thoughtSignatureOf } from '../../conversation/extensions.ts';
import {
	isBlank,
	isTrue,
	type JsonView,
	objectIn,
	rejectField,
	requireObject,
	requireText,
	requireTextOf,
	visibleTextIn,
} from '../../conversation/json-view.ts';
import type { RequestWarnings } from '../../conversation/request-translation.ts';
import { type PairingWords, ToolPairing } from '../../conversation/tool-pairing.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { isToolChange } from './request-tools.ts';

const unsupported = 'must be the id of a `tool_use` in the previous assistant message, with one result';

const pairingWords: PairingWords = {
	unsupported,
	repeatedResult: unsupported,
	pendingCalls: 'must have its `tool_result` in the user message that follows',
	unsupportedMember: '.id',
	repeatedCall: 'must differ from the ids of the other calls',
};

/** Emits the turns of a request. Consecutive messages of one role form one turn. @throws `Rejection` `field_invalid`. */
export function readTurns(request: JsonView, takes: ReadonlySet<Capability>, warnings: RequestWarnings, take: (turn: Turn) => void): void {
	const reader = new TurnReader(takes, warnings, take);
	const system = request.member('system');
	if (system.isGiven) reader.readSystem(system);
	const messages = request.member('messages').items();
	for (const [index, message] of messages.entries()) {
		if (!isCleared(requireObject(message), messages, index)) reader.read(message);
	}
	reader.end();
}

/** True for instructions that the model no longer sees, because a later message of the user cleared them. */
function isCleared(message: JsonView, messages: readonly JsonView[], index: number): boolean {
	if (message.textOf('clear_at') !== 'next_user_message' || message.textOf('role') !== 'system') return false;
	return messages.slice(index + 1).some((later) => later.textOf('role') === 'user');
}

/** Start of the text in which Claude Code identifies itself to Anthropic, whose API removes it from the prompt. */
const attributionStart = 'x-anthropic-billing-header:';

/** True for a block of attribution alone. It differs between conversations, and would defeat another provider's prompt cache. */
function isAttribution(block: JsonView | undefined): boolean {
	const text = block?.member('text');
	return text?.prefix(attributionStart.length) === attributionStart && text.text()?.includes('\n') === false;
}

class TurnReader {
	readonly #takes: ReadonlySet<Capability>;
	readonly #warnings: RequestWarnings;
	readonly #take: (turn: Turn) => void;
	readonly #pairing = new ToolPairing(pairingWords);
	/** First of the current consecutive user messages. */
	#user: JsonView | undefined;
	#userParts: ContentPart[] = [];
	#hasResults = false;
	/** Role of the previous message. */
	#role: string | undefined;

	constructor(takes: ReadonlySet<Capability>, warnings: RequestWarnings, take: (turn: Turn) => void) {
		this.#takes = takes;
		this.#warnings = warnings;
		this.#take = take;
	}

	readSystem(system: JsonView): void {
		const isRead = system.kind === 'string' || system.kind === 'array';
		if (!isRead) rejectField(system.path, 'must be a string or an array of text blocks');
		const blocks = blocksOf(system);
		const hasAttribution = isAttribution(blocks[0]);
		if (hasAttribution) this.#warnings.note(`${blocks[0]?.path}`, 'attribution, which only Anthropic reads, removed');
		this.#take({ role: 'system', at: system, parts: readTexts(hasAttribution ? blocks.slice(1) : blocks), isOneText: false });
	}

	read(message: JsonView): void {
		const role = message.textOf('role');
		const content = message.member('content');
		const goesOn = role === this.#role;
		this.#role = role;
		if (role !== 'user') this.#endUser();
		switch (role) {
			case 'user':
				this.#user ??= message;
				for (const block of blocksOf(content)) this.#addUserBlock(block);
				break;
			case 'assistant': {
				if (!goesOn) this.#takeResults(this.#pairing.close());
				const parts = blocksOf(content).map(assistantPart);
				for (const part of parts) if (part.type === 'call') this.#pairing.open(part);
				this.#take({ role, at: message, parts, signature: undefined });
				break;
			}
			case 'system':
				this.#takeResults(this.#pairing.closeForInstructions(this.#takes));
				this.#readInstructions(message, content);
				break;
			default:
				rejectField(`${message.path}.role`, 'must be `user`, `assistant` or `system`');
		}
	}

	/** Reads a system message, which may only change tools (`readTools` does) or settings. */
	#readInstructions(message: JsonView, content: JsonView): void {
		const settings = message.member('output_config');
		if (settings.names().length > 0) this.#warnings.add(settings.path, 'ignored');
		if (!content.isGiven && settings.isGiven) return;
		const blocks = blocksOf(content);
		const texts = blocks.filter((block) => !isToolChange(block));
		if (texts.length === 0 && blocks.length > 0) return;
		this.#take({ role: 'system', at: message, parts: readTexts(texts), isOneText: false });
	}

	end(): void {
		this.#endUser();
		this.#takeResults(this.#pairing.close());
	}

	/** Results go to their calls; other user content becomes one turn after them. */
	#endUser(): void {
		const [at, parts, hasResults] = [this.#user, this.#userParts, this.#hasResults];
		if (at === undefined) return;
		this.#user = undefined;
		this.#userParts = [];
		this.#hasResults = false;
		if (parts.length === 0) {
			if (!hasResults) rejectField(`${at.path}.content`, 'must contain non-empty text');
			return;
		}
		// A block of an unknown type may have been meant as the missing result.
		const unknown = this.#pairing.isAwaitingResults ? parts.find((part) => part.type === 'opaque') : undefined;
		if (unknown !== undefined) rejectField(unknown.at.path, unknown.cure);
		this.#takeResults(this.#pairing.close());
		this.#take({ role: 'user', at, parts });
	}

	#takeResults(results: ResultsTurn | undefined): void {
		if (results !== undefined) this.#take(results);
	}

	#addUserBlock(block: JsonView): void {
		if (block.textOf('type') !== 'tool_result') {
			this.#add(block, this.#userParts);
			return;
		}
		this.#hasResults = true;
		const at = block.member('tool_use_id');
		const call = this.#pairing.callOf(requireText(at), at);
		const content = block.member('content');
		const parts: ContentPart[] = [];
		if (content.isGiven && content.kind !== 'string') this.#addBlocks(content, parts);
		this.#pairing.response({ type: 'result', at, call, content: content.text() ?? parts, isError: isTrue(block.member('is_error')) });
	}

	/** Adds a string, or a list of blocks. */
	#addBlocks(content: JsonView, to: ContentPart[]): void {
		for (const block of blocksOf(content)) this.#add(block, to);
	}

	/** Adds a block of a user, a tool or a document. Texts without visible characters are omitted. */
	#add(block: JsonView, to: ContentPart[]): void {
		if (block.kind === 'string') return addText(block, requireText(block), to);
		switch (block.textOf('type')) {
			case 'text':
				return addText(block, requireTextOf(block, 'text'), to);
			case 'image':
				to.push({ type: 'image', at: block, source: imageSource(requireObject(block.member('source'))), cacheMark: cacheMarkOf(block) });
				return;
			case 'document':
				return this.#addDocument(block, requireObject(block.member('source')), to);
			case 'search_result': {
				const inner = block.member('content').items();
				const texts = inner.map((one) => one.member('text'));
				return addText(block, joinVisible([block.member('title'), block.member('source'), ...texts]), to);
			}
			case 'tool_reference':
				return addText(block, requireTextOf(block, 'tool_name'), to);
			default:
				to.push({ type: 'opaque', at: block.member('type'), text: undefined, cure: noEquivalent });
		}
	}

	#addDocument(block: JsonView, source: JsonView, to: ContentPart[]): void {
		if (isTrue(block.member('citations').member('enabled'))) this.#warnings.add('citations', 'ignored');
		const heading = joinVisible([block.member('title'), block.member('context')]);
		switch (source.textOf('type')) {
			case 'base64': {
				const mediaType = source.member('media_type');
				if (mediaType.text() !== 'application/pdf') rejectField(mediaType.path, 'must be `application/pdf`');
				to.push(filePart(block, dataSource(source)));
				return;
			}
			case 'text': {
				const text = requireTextOf(source, 'data');
				return addText(block, heading === '' ? text : `${heading}\n${text}`, to);
			}
			case 'content':
				addText(block, heading, to);
				return this.#addBlocks(source.member('content'), to);
			case 'url':
				to.push(filePart(block, this.#takes.has('fileLinks') ? linkSource(source) : this.#vendorDocument(source)));
				return;
			default:
				to.push(filePart(block, this.#vendorDocument(source)));
		}
	}

	#vendorDocument(source: JsonView): MediaSource {
		const known = this.#takes.has('fileLinks') ? '`base64`, `url`, `text` or `content`' : '`base64`, `text` or `content`';
		return { kind: 'foreign', at: source.member('type'), cure: `must be ${known}: send the document itself` };
	}
}

const noEquivalent = 'has no equivalent at the model’s provider: omit it';

/** Returns the blocks of a list; a string is one text block. @throws `Rejection` `field_invalid`. */
function blocksOf(content: JsonView): readonly JsonView[] {
	if (content.kind === 'string') return [content];
	if (content.kind !== 'array') return rejectField(content.path, 'must be a string or an array');
	const blocks = content.items();
	for (const block of blocks) requireObject(block);
	return blocks;
}

/** Reads instructions, which must be text. @throws `Rejection` `field_invalid`. */
function readTexts(blocks: readonly JsonView[]): readonly TextPart[] {
	const texts: TextPart[] = [];
	for (const block of blocks) {
		const text = block.kind === 'string' ? block : block.member('text');
		if (text !== block && block.textOf('type') !== 'text') rejectField(`${block.path}.type`, 'must be `text`');
		addText(block, requireText(text), texts);
	}
	return texts;
}

function addText(block: JsonView, text: string, to: (TextPart | ContentPart)[]): void {
	if (!isBlank(text)) to.push({ type: 'text', at: block, text, cacheMark: cacheMarkOf(block) });
}

function assistantPart(block: JsonView): AssistantPart {
	if (block.kind === 'string') return { type: 'text', at: block, text: requireText(block) };
	switch (block.textOf('type')) {
		case 'text':
			return { type: 'text', at: block, text: requireTextOf(block, 'text') };
		case 'thinking':
		case 'redacted_thinking':
			return { type: 'reasoning', at: block, field: 'thinking', ...signedReasoningOf(block) };
		case 'tool_use':
			return toolCall(block);
		default:
			return { type: 'opaque', at: block.member('type'), text: describeServerBlock(objectIn(block) ?? {}), cure: noEquivalent };
	}
}

function toolCall(block: JsonView): ToolCall {
	const input = block.member('input');
	const object = objectIn(input) ?? rejectField(input.path, 'must be an object');
	return {
		type: 'call',
		at: block,
		id: requireTextOf(block, 'id'),
		name: requireTextOf(block, 'name'),
		arguments: { text: () => JSON.stringify(object), object: () => object },
		signature: thoughtSignatureOf(block),
	};
}

function filePart(block: JsonView, source: MediaSource): FilePart {
	const [title, context] = [visibleTextIn(block.member('title')), visibleTextIn(block.member('context'))];
	return { type: 'file', at: block, source, filename: undefined, title, context, cacheMark: cacheMarkOf(block) };
}

function imageSource(source: JsonView): MediaSource {
	switch (source.textOf('type')) {
		case 'url':
			return linkSource(source);
		case 'base64':
			return dataSource(source);
		default:
			return {
				kind: 'foreign',
				at: source.member('type'),
				cure: 'must be `base64` or `url`: files stored at another vendor cannot be read',
			};
	}
}

function linkSource(source: JsonView): MediaSource {
	return { kind: 'link', at: source.member('type'), url: requireTextOf(source, 'url') };
}

function dataSource(source: JsonView): MediaSource {
	const at = source.member('media_type');
	return { kind: 'data', at, mediaType: at.text(), base64: () => requireTextOf(source, 'data') };
}

function joinVisible(texts: readonly JsonView[]): string {
	return texts.flatMap((text) => visibleTextIn(text) ?? []).join('\n');
}

const maxInputLength = 500;

/** Describes a block of a tool that the other vendor ran itself, in one line of text; empty if it has no readable content. */
function describeServerBlock(block: JsonObject): string {
	const { type, name, input, content } = block;
	if (type === 'server_tool_use' || type === 'mcp_tool_use') {
		return `\n[Called ${typeof name === 'string' ? name : 'a tool'} with ${(JSON.stringify(input) ?? '{}').slice(0, maxInputLength)}]\n`;
	}
	if (typeof type !== 'string' || !type.endsWith('_tool_result')) return '';
	return `\n${[`[Result of ${type.slice(0, -'_tool_result'.length)}]`, ...linesOf(content)].join('\n')}\n`;
}

/** Returns titles with URLs, texts and outputs; content encrypted for its own vendor is unreadable. */
function linesOf(content: unknown): string[] {
	if (typeof content === 'string') return [content];
	if (Array.isArray(content)) return content.flatMap(linesOf);
	if (!isJsonObject(content)) return [];
	const { title, url, text, stdout, stderr, error_code, content: inner } = content;
	const said = [title, url, text, stdout, stderr, error_code].filter((value) => typeof value === 'string' && value !== '');
	return [...(said.length === 0 ? [] : [said.join(' ')]), ...linesOf(inner)];
}
