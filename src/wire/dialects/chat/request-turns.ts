import type {
	AssistantPart,
	Capability,
	ContentPart,
	MediaSource,
	ReasoningPart,
	ResultsTurn,
	TextPart,
	ToolArguments,
	ToolCall,
	Turn,
	VendorSignature,
} from '../../conversation/conversation.ts';
import { cacheMarkOf, signedReasoningOf, thoughtSignatureOf } from '../../conversation/extensions.ts';
import { isBlank, type JsonView, rejectField, requireObject, requireText, requireTextOf } from '../../conversation/json-view.ts';
import { parseArguments } from '../../conversation/read-json.ts';
import { type PairingWords, ToolPairing } from '../../conversation/tool-pairing.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { maxHeadLength, parseDataUrlHead } from './data-url.ts';

const pairingWords: PairingWords = {
	unsupported: 'does not match a tool call of the previous assistant message: send each result directly after its call',
	repeatedResult: 'matches a tool call that already has a result: send one result per call',
	pendingCalls: 'has no result: send one `tool` message per call directly after its message',
	unsupportedMember: '',
	repeatedCall: 'is the id of another call of the message: give each call its own',
};

/** Emits a turn for each message, and one for adjacent results. @throws `Rejection` `field_invalid`. */
export function readTurns(messages: JsonView, takes: ReadonlySet<Capability>, take: (turn: Turn) => void): void {
	if (messages.kind !== 'array') rejectField(messages.path, 'must be an array');
	const pairing = new ToolPairing(pairingWords);
	for (const [index, message] of messages.items().entries()) {
		const turn = readTurn(requireObject(message), index, takes, pairing);
		if (turn === undefined) continue;
		const results = resultsBefore(turn, takes, pairing);
		if (results !== undefined) take(results);
		if (turn.role === 'assistant') for (const part of turn.parts) if (part.type === 'call') pairing.open(part);
		take(turn);
	}
	const results = pairing.close();
	if (results !== undefined) take(results);
}

/** Reads a message as a turn; undefined for a result, which waits for those of the other calls. */
function readTurn(message: JsonView, index: number, takes: ReadonlySet<Capability>, pairing: ToolPairing): Turn | undefined {
	const content = message.member('content');
	switch (message.textOf('role')) {
		case 'system':
		case 'developer':
			return { role: 'system', at: message, parts: readTexts(content, takes), isOneText: true };
		case 'user': {
			const parts = readContent(content, takes);
			return parts.length > 0 ? { role: 'user', at: message, parts } : rejectField(content.path, 'must not be empty or blank');
		}
		case 'assistant':
			return { role: 'assistant', at: message, parts: assistantParts(message, index, takes), signature: thoughtSignatureOf(message) };
		case 'tool': {
			const id = message.member('tool_call_id');
			addResult(content, id, requireText(id), takes, pairing);
			return undefined;
		}
		case 'function': {
			const name = message.member('name');
			addResult(content, name, pairing.lastCallOf(name.value()) ?? '', takes, pairing);
			return undefined;
		}
		default:
			return rejectField(`${message.path}.role`, 'must be `system`, `developer`, `user`, `assistant`, `tool` or `function`');
	}
}

/** Returns the results before a turn; an empty turn takes none. @throws `Rejection` `field_invalid` for a call without a result. */
function resultsBefore(turn: Turn, takes: ReadonlySet<Capability>, pairing: ToolPairing): ResultsTurn | undefined {
	if (turn.role === 'results' || turn.parts.length === 0) return undefined;
	return turn.role === 'system' ? pairing.closeForInstructions(takes) : pairing.close();
}

function addResult(content: JsonView, at: JsonView, id: string, takes: ReadonlySet<Capability>, pairing: ToolPairing): void {
	const call = pairing.callOf(id, at);
	pairing.response({ type: 'result', at, call, content: content.text() ?? readContent(content, takes), isError: false });
}

/** Reasoning, then text, then calls: the order in which the model wrote them. */
function assistantParts(message: JsonView, index: number, takes: ReadonlySet<Capability>): readonly AssistantPart[] {
	if (message.has('audio')) {
		const why = takes.has('audio') ? 'audio output of another model cannot be referenced' : 'this model does not support audio';
		rejectField(`${message.path}.audio`, `cannot be sent: ${why}. Send a transcript`);
	}
	const parts: AssistantPart[] = message.has('thinking_blocks') ? message.member('thinking_blocks').items().map(reasoningPart) : [];
	const reasoned = parts.length;
	for (const name of ['content', 'refusal']) {
		if (message.has(name)) for (const text of readTexts(message.member(name), takes)) parts.push(text);
	}
	if (message.has('tool_calls')) {
		const calls = message.member('tool_calls');
		if (calls.kind !== 'array') rejectField(calls.path, 'must be an array');
		for (const call of calls.items()) parts.push(readCall(requireObject(call), takes));
	}
	if (message.has('function_call')) {
		const legacy = message.member('function_call');
		parts.push(callPart(legacy, legacy, `call_${index}`, undefined));
	}
	return parts.length === reasoned ? nothing : parts;
}

function reasoningPart(block: JsonView): ReasoningPart {
	return { type: 'reasoning', at: block, field: 'thinking_blocks', ...signedReasoningOf(block) };
}

function readCall(call: JsonView, takes: ReadonlySet<Capability>): AssistantPart {
	const isFunction = !call.has('type') || call.textOf('type') === 'function';
	if (isFunction) return callPart(call, call.member('function'), undefined, thoughtSignatureOf(call));
	if (call.textOf('type') === 'custom' && takes.has('customTools')) return customCall(call, call.member('custom'));
	return { type: 'opaque', at: call.member('type'), text: undefined, cure: 'must be `function`: this model has no custom tools' };
}

/** @param id undefined for a call of the deprecated kind, which has none. */
function callPart(at: JsonView, called: JsonView, id: string | undefined, signature: VendorSignature | undefined): ToolCall {
	const name = requireTextOf(called, 'name');
	const given = new TextualArguments(called.member('arguments'));
	return { type: 'call', at, id: id ?? requireTextOf(at, 'id'), name, arguments: given, signature };
}

function customCall(call: JsonView, custom: JsonView): ToolCall {
	const [id, name, input] = [requireTextOf(call, 'id'), requireTextOf(custom, 'name'), requireTextOf(custom, 'input')];
	return { type: 'call', at: call, id, name, arguments: inputArguments(input), signature: undefined, input };
}

/** Arguments of a function that stands for a custom tool. */
export function inputArguments(input: string): ToolArguments {
	return { text: () => JSON.stringify({ input }), object: () => ({ input }) };
}

export class TextualArguments implements ToolArguments {
	readonly #view: JsonView;

	constructor(view: JsonView) {
		this.#view = view;
		if (view.isGiven && view.kind !== 'string') this.#reject();
	}

	text(): string {
		return this.#view.text() ?? '';
	}

	object(): JsonObject {
		return parseArguments(this.text()) ?? this.#reject();
	}

	#reject(): never {
		return rejectField(this.#view.path, 'must be a JSON object as a string');
	}
}

const nothing: readonly never[] = [];

/** Reads the content of a message; texts without visible characters are omitted. @throws `Rejection` `field_invalid`. */
function readContent(content: JsonView, takes: ReadonlySet<Capability>): readonly ContentPart[] {
	if (!content.isGiven) return nothing;
	if (content.kind === 'string') return textParts(content, content);
	if (content.kind !== 'array') return rejectField(content.path, 'must be a string or an array of parts');
	return content.items().flatMap((part) => readPart(requireObject(part), takes));
}

/** Reads content that must be text, such as that of a system message. @throws `Rejection` `field_invalid`. */
function readTexts(content: JsonView, takes: ReadonlySet<Capability>): readonly TextPart[] {
	if (content.kind === 'string') return textParts(content, content);
	const parts = readContent(content, takes);
	for (const part of parts) if (part.type === 'opaque') rejectField(part.at.path, part.cure);
	return parts.map((part) => (part.type === 'text' ? part : rejectField(content.path, 'must be text: send other parts in a user message')));
}

function readPart(part: JsonView, takes: ReadonlySet<Capability>): readonly ContentPart[] {
	switch (part.textOf('type')) {
		case 'text':
			return textParts(part, part.member('text'));
		case 'refusal':
			return textParts(part, part.member('refusal'));
		case 'image_url':
			return [imagePart(part, part.member('image_url'))];
		case 'file':
			return [filePart(part, part.member('file'))];
		case 'input_audio':
			return takes.has('audio') ? [audioPart(part.member('input_audio'))] : [opaquePart(part, takes)];
		default:
			return [opaquePart(part, takes)];
	}
}

function opaquePart(part: JsonView, takes: ReadonlySet<Capability>): ContentPart {
	const known = takes.has('audio') ? '`text`, `image_url`, `input_audio` or `file`' : '`text`, `image_url` or `file`';
	return { type: 'opaque', at: part.member('type'), text: undefined, cure: `is not supported by this model’s provider: send ${known}` };
}

function textParts(part: JsonView, said: JsonView): readonly TextPart[] {
	const text = requireText(said);
	return isBlank(text) ? nothing : [{ type: 'text', at: part, text, cacheMark: cacheMarkOf(part) }];
}

function imagePart(part: JsonView, image: JsonView): ContentPart {
	const source = imageSource(image.member('url'));
	return { type: 'image', at: part, source, detail: image.textOf('detail'), cacheMark: cacheMarkOf(part) };
}

/** URLs are forwarded for the provider to fetch; the gateway fetches nothing for a client. */
export function imageSource(url: JsonView): MediaSource {
	if (url.kind !== 'string') return rejectField(url.path, 'must be a string: an https URL or a base64 data URL');
	return /^https?:\/\//i.test(url.prefix(maxHeadLength)) ? { kind: 'link', at: url, url: requireText(url) } : dataSource(url);
}

export function dataSource(url: JsonView): MediaSource {
	const head = parseDataUrlHead(url.prefix(maxHeadLength));
	if (head === undefined) return { kind: 'invalid', at: url };
	return { kind: 'data', at: url, mediaType: head.mediaType, base64: () => requireText(url).slice(head.dataStart) };
}

function audioPart(audio: JsonView): ContentPart {
	return { type: 'audio', at: audio, format: audio.textOf('format'), base64: () => requireTextOf(audio, 'data') };
}

function filePart(part: JsonView, file: JsonView): ContentPart {
	const data = file.member('file_data');
	const filename = file.textOf('filename');
	const source: MediaSource =
		data.kind === 'string'
			? dataSource(data)
			: { kind: 'foreign', at: file, cure: 'must carry its content in `file_data`: files stored at another provider cannot be read' };
	return { type: 'file', at: part, source, filename, title: undefined, context: undefined, cacheMark: cacheMarkOf(part) };
}
