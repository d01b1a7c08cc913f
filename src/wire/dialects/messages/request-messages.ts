import type {
	AssistantTurn,
	CacheMark,
	ContentPart,
	FilePart,
	MediaSource,
	SignedThinking,
	TextPart,
	ToolCall,
	ToolResult,
	Turn,
} from '../../conversation/conversation.ts';
import { fitName } from '../../conversation/fit-name.ts';
import { isBlank, rejectField } from '../../conversation/json-view.ts';
import type { RequestWarnings } from '../../conversation/request-translation.ts';
import { inOrderOfCalls } from '../../conversation/tool-pairing.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import type { ClaudeModel } from './model.ts';

interface MessageTurn {
	readonly role: 'user' | 'assistant' | 'system';
	readonly content: JsonObject[];
}

/** Turns in the provider's format, with adjacent ones of one role merged. */
export class TurnList {
	readonly system: JsonObject[] = [];
	readonly #model: ClaudeModel;
	readonly #warnings: RequestWarnings;
	/** The client's field of the turns. */
	readonly #field: string;
	readonly #turns: MessageTurn[] = [];
	#isAwaitingResults = false;

	constructor(model: ClaudeModel, warnings: RequestWarnings, field: string) {
		this.#model = model;
		this.#warnings = warnings;
		this.#field = field;
	}

	/** @throws `Rejection` `field_invalid` for content without an equivalent. */
	add(turn: Turn): void {
		switch (turn.role) {
			case 'system':
				this.#addSystem(turn.parts.map(textBlock));
				break;
			case 'user':
				this.#join('user', turn.parts.map(contentBlock));
				break;
			case 'assistant':
				this.#join('assistant', this.#assistantBlocks(turn));
				break;
			case 'results':
				this.#join('user', inOrderOfCalls(turn).map(resultBlock));
				this.#isAwaitingResults = false;
		}
	}

	#join(role: MessageTurn['role'], blocks: JsonObject[]): void {
		if (blocks.length === 0) return;
		const last = this.#turns.at(-1);
		if (last?.role !== role) this.#turns.push({ role, content: blocks });
		else for (const block of blocks) last.content.push(block);
	}

	/** Moves instructions to the front if the model does not take them inside, as the vendor's own layer for chat completions does. */
	#addSystem(blocks: JsonObject[]): void {
		const isFirst = this.#turns.length === 0;
		if (!isFirst && this.#model.takesMidSystem && !this.#isAwaitingResults) {
			this.#join('system', blocks);
			return;
		}
		if (!isFirst && blocks.length > 0) this.#warnings.add(this.#field, 'later system messages moved to the front');
		for (const block of blocks) this.system.push(block);
	}

	/** Keeps all reasoning of a turn or none, because the provider rejects a turn with changed thinking. */
	#assistantBlocks({ parts }: AssistantTurn): JsonObject[] {
		const hasNoUse = this.#model.thinking === 'none';
		const foreign = parts.find(
			(part) => part.type === 'reasoning' && (part.vendor !== 'anthropic' || part.signed === undefined || hasNoUse),
		);
		if (foreign?.type === 'reasoning') this.#warnings.add(foreign.field, 'dropped if unsigned or not usable by the model');
		const blocks: JsonObject[] = [];
		for (const part of parts) {
			switch (part.type) {
				case 'text':
					blocks.push(textBlock(part));
					break;
				case 'reasoning':
					if (foreign === undefined && part.vendor === 'anthropic' && part.signed !== undefined) blocks.push(thinkingBlock(part.signed));
					break;
				case 'call':
					blocks.push({ type: 'tool_use', id: toolUseId(part), name: part.name, input: part.arguments.object() });
					this.#isAwaitingResults = true;
					break;
				case 'opaque':
					blocks.push({ type: 'text', text: part.text ?? rejectField(part.at.path, part.cure) });
			}
		}
		return blocks;
	}

	/** True if the turn that would have to begin with thinking was generated without it or has lost it. */
	get hasLostThinking(): boolean {
		const last = this.#turns.at(-1);
		if (last?.role !== 'user' || last.content[0]?.type !== 'tool_result') return false;
		const first = this.#turns.at(-2)?.content[0]?.type;
		return first !== 'thinking' && first !== 'redacted_thinking';
	}

	/** Names of the tools called so far, each once. */
	get calledTools(): readonly string[] {
		const names = new Set<string>();
		for (const { content } of this.#turns) for (const { type, name } of content) if (type === 'tool_use') names.add(String(name));
		return [...names];
	}

	/** @throws `Rejection` `field_invalid` for a conversation that the model cannot continue. */
	finish(): readonly MessageTurn[] {
		const last = this.#turns.at(-1);
		if (!this.#turns.some((turn) => turn.role === 'user')) rejectField(this.#field, 'must contain a user message with content');
		if (last?.role !== 'assistant') return this.#turns;
		if (!this.#model.takesPrefill) {
			rejectField(this.#field, 'must not end with an assistant message: this model does not continue one. End with a user message');
		}
		const text = last.content.at(-1);
		if (typeof text?.text === 'string') last.content[last.content.length - 1] = { ...text, text: text.text.trimEnd() };
		return this.#turns;
	}
}

export function writeCacheMark(mark: CacheMark | undefined): JsonObject | undefined {
	return mark && { type: 'ephemeral', ttl: mark.ttl };
}

function textBlock({ text, cacheMark }: TextPart): JsonObject {
	return { type: 'text', text, cache_control: writeCacheMark(cacheMark) };
}

/** @throws `Rejection` `field_invalid` for a part without an equivalent. */
function contentBlock(part: ContentPart): JsonObject {
	switch (part.type) {
		case 'text':
			return textBlock(part);
		case 'image':
			return { type: 'image', source: imageSource(part.source), cache_control: writeCacheMark(part.cacheMark) };
		case 'audio':
			return rejectField(part.at.path, 'cannot be sent: this model has no audio input. Send a transcript');
		case 'file':
			return documentBlock(part);
		case 'opaque':
			return rejectField(part.at.path, part.cure);
	}
}

function resultBlock({ call, content, isError }: ToolResult): JsonObject {
	const said = typeof content === 'string' ? (isBlank(content) ? '' : content) : content.map(contentBlock);
	return {
		type: 'tool_result',
		tool_use_id: toolUseId(call),
		content: said.length > 0 ? said : undefined,
		is_error: isError ? true : undefined,
	};
}

/** Returns a block that the provider itself signed or encrypted, unchanged. */
function thinkingBlock(signed: SignedThinking): JsonObject {
	switch (signed.kind) {
		case 'encrypted':
			return { type: 'redacted_thinking', data: signed.data };
		case 'text':
			return { type: 'thinking', thinking: signed.text, signature: signed.signature };
	}
}

/** Longest id that the provider is known to accept. */
const maxUseIdLength = 128;

/** Far longer than any vendor's ids; each has to be hashed. */
const maxIdLength = 1024;

/** Converts a tool call's id for the provider, equally for the call and its result. @throws `Rejection` `field_invalid`. */
function toolUseId({ id, at }: ToolCall): string {
	if (id.length > maxIdLength) rejectField(`${at.path}.id`, `must be a string of at most ${maxIdLength} characters`);
	return fitName(id, maxUseIdLength);
}

const imageTypes: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

function imageSource(source: MediaSource): JsonObject {
	switch (source.kind) {
		case 'link':
			return { type: 'url', url: source.url };
		case 'data': {
			const mediaType = source.mediaType === 'image/jpg' ? 'image/jpeg' : (source.mediaType ?? '');
			if (!imageTypes.has(mediaType)) rejectField(source.at.path, 'must be an image of type jpeg, png, gif or webp');
			return { type: 'base64', media_type: mediaType, data: source.base64() };
		}
		case 'invalid':
			return rejectField(source.at.path, 'must be an https URL or a base64 data URL');
		case 'foreign':
			return rejectField(source.at.path, source.cure);
	}
}

function documentBlock({ source, title, filename, cacheMark }: FilePart): JsonObject {
	const name = title ?? filename;
	return {
		type: 'document',
		source: documentSource(source),
		title: name === undefined || isBlank(name) ? undefined : name,
		cache_control: writeCacheMark(cacheMark),
	};
}

function documentSource(source: MediaSource): JsonObject {
	switch (source.kind) {
		case 'link':
			return { type: 'url', url: source.url };
		case 'data':
			if (source.mediaType === 'application/pdf') return { type: 'base64', media_type: source.mediaType, data: source.base64() };
			if (source.mediaType?.startsWith('text/') !== true) return rejectFile(source.at.path);
			return { type: 'text', media_type: 'text/plain', data: Buffer.from(source.base64(), 'base64').toString('utf8') };
		case 'invalid':
			return rejectFile(source.at.path);
		case 'foreign':
			return rejectField(source.at.path, source.cure);
	}
}

function rejectFile(path: string): never {
	return rejectField(path, 'must be a data URL in base64 of type application/pdf or text');
}
