import type {
	AssistantPart,
	Capability,
	ContentPart,
	MediaSource,
	ReasoningPart,
	TextPart,
	ToolArguments,
	ToolCall,
	ToolResult,
	Turn,
	VendorSignature,
} from '../../conversation/conversation.ts';
import { signedReasoningOf } from '../../conversation/extensions.ts';
import { isBlank, type JsonView, rejectField, requireObject, requireText, requireTextOf, viewOf } from '../../conversation/json-view.ts';
import { readObject } from '../../conversation/read-json.ts';
import { encryptedPrefix, type ReasoningEncryption } from '../../conversation/reasoning-encryption.ts';
import type { RequestWarnings } from '../../conversation/request-translation.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { dataSource, imageSource, inputArguments, TextualArguments } from '../chat/request-turns.ts';
import { flatName, isClientSearch, toolNamesIn, toolSearchName } from './request-tools.ts';

/** Warnings of a conversation's items: each problem of a field is reported once, with the path of its first item. */
export class ItemWarnings {
	readonly #warnings: RequestWarnings;
	readonly #reported = new Set<string>();

	constructor(warnings: RequestWarnings) {
		this.#warnings = warnings;
	}

	add(field: string, what: string): void {
		const problem = `${field.replaceAll(/\[\d+\]/g, '')}: ${what}`;
		if (this.#reported.has(problem)) return;
		this.#reported.add(problem);
		this.#warnings.add(field, what);
	}
}

export interface TurnContext {
	readonly takes: ReadonlySet<Capability>;
	readonly warnings: ItemWarnings;
	readonly encryption: ReasoningEncryption;
	take(turn: Turn): void;
}

/** Emits the turns of a request. @throws `Rejection` `field_invalid`. */
export function readTurns(request: JsonView, context: TurnContext): void {
	const instructions = request.member('instructions');
	if (instructions.isGiven) {
		context.take({ role: 'system', at: instructions, parts: textParts(instructions, requireText(instructions)), isOneText: true });
	}
	const input = request.member('input');
	const text = input.text();
	if (text !== undefined) {
		const parts = textParts(input, text);
		context.take({ role: 'user', at: input, parts: parts.length > 0 ? parts : rejectField('input', 'must not be empty or blank') });
		return;
	}
	const items = input.items().map(requireObject);
	if (items.length === 0) rejectField('input', 'must be a text or a non-empty array: this gateway keeps no earlier turns');
	const reader = new ItemReader(items, context);
	for (const item of items) reader.read(item);
	reader.endAssistant();
}

type ItemKind = 'message' | 'call' | 'output' | 'reasoning' | 'reference' | 'update' | 'tools' | 'hosted' | 'unknown';

const kinds: ReadonlyMap<string, ItemKind> = new Map<string, ItemKind>([
	['message', 'message'],
	['function_call', 'call'],
	['custom_tool_call', 'call'],
	['function_call_output', 'output'],
	['custom_tool_call_output', 'output'],
	['reasoning', 'reasoning'],
	['item_reference', 'reference'],
	['configuration_update', 'update'],
	['additional_tools', 'tools'],
]);

/** Items of tools that the client's vendor runs. */
const hosted = /^(?:(?:file_search|web_search|code_interpreter|image_generation)_call|mcp_\w+)$/;

function kindOf(item: JsonView): ItemKind {
	if (!item.has('type')) return item.has('role') ? 'message' : 'reference';
	const type = item.textOf('type') ?? '';
	// The vendor's own searches have no id of a call.
	if (type === 'tool_search_call') return isClientSearch(item) ? 'call' : 'hosted';
	if (type === 'tool_search_output') return isClientSearch(item) ? 'output' : 'tools';
	return kinds.get(type) ?? (hosted.test(type) ? 'hosted' : 'unknown');
}

/** Longer ids would have to be hashed for nothing. */
const maxCallIdLength = 1024;

function callIdOf(item: JsonView): string {
	const id = requireTextOf(item, 'call_id');
	return id.length <= maxCallIdLength ? id : rejectField(`${item.path}.call_id`, `must have at most ${maxCallIdLength} characters`);
}

/** Finds the output of each call, wherever it is after the call. @throws `Rejection` `field_invalid` for either without the other. */
function outputsOf(items: readonly JsonView[], warnings: ItemWarnings): ReadonlyMap<JsonView, JsonView> {
	const latest = new Map<string, JsonView>();
	const outputs = new Map<JsonView, JsonView>();
	for (const item of items) {
		const kind = kindOf(item);
		if (kind !== 'call' && kind !== 'output') continue;
		const id = callIdOf(item);
		const call = latest.get(id);
		if (kind === 'call') {
			if (call !== undefined && !outputs.has(call)) rejectField(`${item.path}.call_id`, 'is the id of another call without output');
			latest.set(id, item);
			continue;
		}
		if (call === undefined) return rejectField(`${item.path}.call_id`, 'does not match an earlier call: send each call before its output');
		if (outputs.has(call)) warnings.add(`${item.path}.call_id`, 'of several outputs for one call, only the last is sent');
		outputs.set(call, item);
	}
	for (const call of latest.values()) {
		if (!outputs.has(call)) rejectField(`${call.path}.call_id`, 'has no output: send an output item for each call');
	}
	return outputs;
}

/** Decrypts reasoning that this gateway encrypted. */
function reasoningOf(items: readonly JsonView[], encryption: ReasoningEncryption): ReadonlyMap<JsonView, JsonObject> {
	const decrypted = new Map<JsonView, JsonObject>();
	for (const item of items) {
		const encrypted = kindOf(item) === 'reasoning' ? item.textOf('encrypted_content') : undefined;
		if (encrypted?.startsWith(encryptedPrefix) !== true) continue;
		const reasoning = readObject(encryption.decrypt(encrypted.slice(encryptedPrefix.length)) ?? '');
		if (reasoning !== undefined) decrypted.set(item, reasoning);
	}
	return decrypted;
}

/** Signatures of calls by their ids. An item of reasoning can be before or after its calls. */
function signaturesOf(reasonings: Iterable<JsonObject>): ReadonlyMap<string, unknown> {
	return new Map([...reasonings].flatMap(({ s }) => (isJsonObject(s) ? Object.entries(s) : [])));
}

function googleSignature(value: unknown): VendorSignature | undefined {
	return typeof value === 'string' && value !== '' ? { vendor: 'google', value } : undefined;
}

/** Forms turns: items of the assistant up to anything else are one turn, followed by the outputs of its calls. */
class ItemReader {
	readonly #outputs: ReadonlyMap<JsonView, JsonView>;
	readonly #reasoning: ReadonlyMap<JsonView, JsonObject>;
	readonly #signatures: ReadonlyMap<string, unknown>;
	readonly #context: TurnContext;
	readonly #warnings: ItemWarnings;
	#parts: AssistantPart[] = [];
	#calls: ToolCall[] = [];
	#results: ToolResult[] = [];
	#hasText = false;
	#signature: VendorSignature | undefined;

	constructor(items: readonly JsonView[], context: TurnContext) {
		this.#outputs = outputsOf(items, context.warnings);
		this.#reasoning = reasoningOf(items, context.encryption);
		this.#signatures = signaturesOf(this.#reasoning.values());
		this.#context = context;
		this.#warnings = context.warnings;
	}

	/** @throws `Rejection` `field_invalid`. */
	read(item: JsonView): void {
		switch (kindOf(item)) {
			case 'message':
				return this.#addMessage(item);
			case 'call':
				return this.#addCall(item);
			case 'output':
				return this.endAssistant();
			case 'reasoning':
				return this.#addReasoning(item);
			case 'reference':
				return rejectField(
					item.path,
					'references a stored item, but this gateway keeps none: send the item itself, with `store: false` in the client’s settings',
				);
			case 'update':
				for (const name of unappliedNames(item)) this.#warnings.add(`${item.path}.${name}`, 'ignored');
				break;
			case 'tools':
				break;
			case 'hosted':
				return this.#warnings.add(item.path, 'items of tools that another vendor ran are omitted');
			case 'unknown':
				return rejectField(
					`${item.path}.type`,
					'is not supported by this model’s provider: send messages, calls of functions and their outputs',
				);
		}
	}

	/** Emits the assistant's turn and its results. Reasoning without anything after it is omitted. */
	endAssistant(): void {
		const [parts, calls, results] = [this.#parts, this.#calls, this.#results];
		const first = parts.find(({ type }) => type !== 'reasoning');
		if (first !== undefined) this.#context.take({ role: 'assistant', at: first.at, parts, signature: this.#signature });
		if (calls.length > 0) this.#context.take({ role: 'results', results, calls });
		this.#parts = [];
		this.#calls = [];
		this.#results = [];
		this.#hasText = false;
		this.#signature = undefined;
	}

	#addMessage(item: JsonView): void {
		const role = item.textOf('role');
		const content = item.member('content');
		switch (role) {
			case 'user': {
				this.endAssistant();
				const parts = this.#marked(readContent(content));
				this.#context.take({ role, at: item, parts: parts.length > 0 ? parts : rejectField(content.path, 'must not be empty or blank') });
				return;
			}
			case 'system':
			case 'developer': {
				const parts = this.#marked(readTexts(content));
				if (parts.length === 0) return;
				this.endAssistant();
				this.#context.take({ role: 'system', at: item, parts, isOneText: true });
				return;
			}
			case 'assistant':
				if (item.has('phase')) this.#warnings.add(`${item.path}.phase`, 'ignored');
				return this.#addTexts(this.#marked(readTexts(content)));
			default:
				return rejectField(`${item.path}.role`, 'must be `user`, `assistant`, `system` or `developer`');
		}
	}

	/** Adds a message's texts before the turn's calls, with a blank line after an earlier message. */
	#addTexts(texts: readonly TextPart[]): void {
		const [first, ...others] = texts;
		if (first === undefined) return;
		const called = this.#parts.findIndex(({ type }) => type === 'call');
		const separated = this.#hasText ? { ...first, text: `\n\n${first.text}` } : first;
		this.#parts.splice(called === -1 ? this.#parts.length : called, 0, separated, ...others);
		this.#hasText = true;
	}

	#addCall(item: JsonView): void {
		const id = callIdOf(item);
		const output = this.#outputs.get(item);
		if (output === undefined) return;
		const call: ToolCall = { type: 'call', at: item, id, ...calledIn(item), signature: googleSignature(this.#signatures.get(id)) };
		this.#parts.push(call);
		this.#calls.push(call);
		const said = outputIn(output);
		const content = typeof said === 'string' ? said : this.#marked(said);
		this.#results.push({ type: 'result', at: output.member('call_id'), call, content, isError: false });
	}

	/** Chat completions are written without the marks of their vendor's prompt cache. */
	#marked<Part extends ContentPart>(parts: readonly Part[]): readonly Part[] {
		const marked = parts.find((part) => 'cacheMark' in part && part.cacheMark !== undefined);
		const isDropped = marked !== undefined && this.#context.takes.has('openaiFields');
		if (isDropped) this.#warnings.add(`${marked.at.path}.prompt_cache_breakpoint`, 'ignored');
		return parts;
	}

	#addReasoning(item: JsonView): void {
		const reasoning = this.#reasoning.get(item);
		if (reasoning === undefined) return this.#warnings.add(item.path, 'reasoning that the model’s provider cannot read is omitted');
		for (const block of viewOf(reasoning).member('b').items()) {
			const part: ReasoningPart = { type: 'reasoning', at: item, field: item.path, ...signedReasoningOf(block) };
			this.#parts.push(part);
		}
		if (typeof reasoning.r === 'string' && reasoning.r !== '') {
			this.#parts.push({ type: 'reasoning', at: item, field: item.path, vendor: 'open', text: reasoning.r });
		}
		this.#signature = googleSignature(reasoning.t) ?? this.#signature;
	}
}

/** Members of a `configuration_update` other than the effort, which the request's settings apply. */
function unappliedNames(item: JsonView): readonly string[] {
	const inner = item.member('reasoning').names();
	const others = item.names().filter((name) => name !== 'type' && name !== 'id' && name !== 'reasoning');
	return [...others, ...inner.filter((name) => name !== 'effort').map((name) => `reasoning.${name}`)];
}

function calledIn(item: JsonView): { readonly name: string; readonly arguments: ToolArguments } {
	const type = item.textOf('type');
	if (type === 'tool_search_call') return { name: toolSearchName, arguments: searchArguments(item.member('arguments')) };
	const name = flatName({ name: requireTextOf(item, 'name'), namespace: item.textOf('namespace') });
	if (type === 'custom_tool_call') return { name, arguments: inputArguments(requireTextOf(item, 'input')) };
	return { name, arguments: new TextualArguments(item.member('arguments')) };
}

function searchArguments(view: JsonView): ToolArguments {
	const value = view.value();
	const object = isJsonObject(value) ? value : rejectField(view.path, 'must be an object');
	return { text: () => JSON.stringify(object), object: () => object };
}

function outputIn(item: JsonView): string | readonly ContentPart[] {
	if (item.textOf('type') === 'tool_search_output') return JSON.stringify({ tools: toolNamesIn(item) });
	const output = item.member('output');
	return output.text() ?? readContent(output);
}

/** Reads texts, images and files; texts without visible characters are omitted. @throws `Rejection` `field_invalid`. */
function readContent(content: JsonView): readonly ContentPart[] {
	if (content.kind === 'string') return textParts(content, requireText(content));
	if (content.kind !== 'array') return rejectField(content.path, 'must be a string or an array of parts');
	return content.items().flatMap((part) => readPart(requireObject(part)));
}

function readTexts(content: JsonView): readonly TextPart[] {
	return readContent(content).map((part) =>
		part.type === 'text' ? part : rejectField(`${part.at.path}.type`, 'must be a text: send other parts in a user message'),
	);
}

function readPart(part: JsonView): readonly ContentPart[] {
	switch (part.textOf('type')) {
		case 'input_text':
		case 'output_text':
		case 'text':
			return textParts(part, requireTextOf(part, 'text'));
		case 'refusal':
			return textParts(part, requireTextOf(part, 'refusal'));
		case 'input_image':
			return [{ type: 'image', at: part, source: imageIn(part), detail: part.textOf('detail'), ...cacheMarkOf(part) }];
		case 'input_file': {
			const filename = part.textOf('filename');
			return [{ type: 'file', at: part, source: fileIn(part), filename, title: undefined, context: undefined, ...cacheMarkOf(part) }];
		}
		default:
			return rejectField(
				`${part.path}.type`,
				'is not supported by this model’s provider: send `input_text`, `input_image` or `input_file`',
			);
	}
}

function textParts(at: JsonView, text: string): readonly TextPart[] {
	return isBlank(text) ? [] : [{ type: 'text', at, text, ...cacheMarkOf(at) }];
}

function cacheMarkOf(part: JsonView): Pick<TextPart, 'cacheMark'> {
	return part.has('prompt_cache_breakpoint') ? { cacheMark: { ttl: undefined } } : {};
}

const stored = 'references a file stored at another vendor, which cannot be read: send its content';

function imageIn(part: JsonView): MediaSource {
	const url = part.member('image_url');
	return url.isGiven ? imageSource(url) : storedFile(part, url);
}

function fileIn(part: JsonView): MediaSource {
	const data = part.member('file_data');
	if (data.isGiven) return dataSource(data);
	const url = part.member('file_url');
	return url.isGiven ? { kind: 'link', at: url, url: requireText(url) } : storedFile(part, data);
}

function storedFile(part: JsonView, missing: JsonView): MediaSource {
	const id = part.member('file_id');
	return id.isGiven ? { kind: 'foreign', at: id, cure: stored } : { kind: 'invalid', at: missing };
}
