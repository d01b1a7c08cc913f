import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { itemsOf, objectsOf, type TextPart, type TextViews, type ValuePath, ViewBuilder } from '../../text-view.ts';
import { isSvgType, isTextType, parseTextUrl } from './data-url.ts';

/** Members of a request that no model reads, or that are read by name. */
const knownMembers: ReadonlySet<string> = new Set(
	(
		'messages tools functions model stream stream_options user metadata store service_tier stop tool_choice function_call audio modalities ' +
		'logit_bias reasoning_effort verbosity seed safety_identifier prompt_cache_key prompt_cache_retention'
	).split(' '),
);

/** Members of a message or a delta that contain no text, or are read by name. */
const knownMessageMembers: ReadonlySet<string> = new Set(
	'role content refusal reasoning reasoning_content audio name tool_calls tool_call_id function_call annotations'.split(' '),
);

/** Members of parts that contain no text, or are read by name. */
const knownPartMembers: ReadonlySet<string> = new Set('type text refusal cache_control image_url input_audio file'.split(' '));

/** Members of responses and chunks that no model wrote, or that are read by name. */
const knownResponseMembers: ReadonlySet<string> = new Set(
	(
		'id object created model choices usage system_fingerprint service_tier error obfuscation provider metadata request_id ' +
		'prompt_filter_results x_groq'
	).split(' '),
);

/** Members of a choice that no model wrote, or that are read by name. */
const knownChoiceMembers: ReadonlySet<string> = new Set(
	'index delta message text logprobs finish_reason native_finish_reason stop_reason content_filter_results'.split(' '),
);

const unreadableParts: ReadonlySet<unknown> = new Set(['image_url', 'input_audio']);

/** Texts of chat completions for guardrails. */
export const chatTextViews: TextViews = {
	eventNames: ['completion', 'error', 'message'],
	request(body) {
		const view = new ViewBuilder();
		let segmentGroup = '';
		let last = '';
		for (const [index, message] of objectsOf(body.messages)) {
			const role = typeof message.role === 'string' ? message.role : 'user';
			const path = ['messages', index];
			// Translation merges adjacent messages of one role into one turn, and all instructions; results of tools stay separate.
			const speaker = role === 'developer' ? 'system' : role;
			if (speaker !== last || isResult(role)) segmentGroup = path.join('.');
			last = speaker;
			viewMessage(view, role, message, path, speaker === 'system' ? speaker : segmentGroup);
		}
		for (const name of ['tools', 'functions']) {
			for (const [index, tool] of objectsOf(body[name])) view.json('system', 'tool_definition', [name, index], tool);
		}
		if (isJsonObject(body.tool_choice)) view.json('system', 'tool_definition', ['tool_choice'], body.tool_choice);
		view.others(body, knownMembers, 'user', []);
		return view;
	},
	response(body) {
		const view = new ViewBuilder();
		for (const [index, choice] of objectsOf(body.choices)) viewChoice(view, choice, '', ['choices', index]);
		view.string('assistant', 'other', ['error'], body.error);
		view.others(body, knownResponseMembers, 'assistant', []);
		return view;
	},
	event(event) {
		const view = new ViewBuilder();
		const ended: string[] = [whole];
		for (const [index, choice] of objectsOf(event.choices)) {
			const name = `${typeof choice.index === 'number' ? choice.index : index}/`;
			const path = ['choices', index];
			if (isJsonObject(choice.delta)) {
				viewDelta(view, choice.delta, name, [...path, 'delta']);
				ended.push(...endedNames(choice.delta, name));
			}
			viewChoice(view, choice, name, path);
			if (typeof choice.finish_reason === 'string') ended.push(name);
		}
		viewStreamedOthers(view, event, knownResponseMembers, '', []);
		view.block = `${whole}error`;
		view.string('assistant', 'other', ['error'], event.error);
		view.ended = ended;
		return view;
	},
};

/** Prefix of names of blocks that end within one event. */
const whole = 'whole/';

function isResult(role: string): boolean {
	return role === 'tool' || role === 'function';
}

/** Views the members that choices of responses and chunks share. @param name of the choice in a stream. */
function viewChoice(view: ViewBuilder, choice: JsonObject, name: string, path: ValuePath): void {
	if (choice.message !== undefined) {
		view.block = `${whole}${name}`;
		view.isEachSeparate = true;
		if (isJsonObject(choice.message)) viewMessage(view, 'assistant', choice.message, [...path, 'message'], `${whole}${name}message`);
		else view.string('assistant', 'text', [...path, 'message'], choice.message);
		view.isEachSeparate = false;
	}
	view.block = `${name}completion`;
	view.string('assistant', 'text', [...path, 'text'], choice.text);
	if (isJsonObject(choice.logprobs)) viewLogprobs(view, choice.logprobs, name, [...path, 'logprobs']);
	viewStreamedOthers(view, choice, knownChoiceMembers, name, path);
}

/** Views unknown members: strings may continue in later events, other values are complete. */
function viewStreamedOthers(view: ViewBuilder, members: JsonObject, known: ReadonlySet<string>, name: string, path: ValuePath): void {
	for (const member of Object.keys(members)) {
		if (known.has(member)) continue;
		view.block = `${typeof members[member] === 'string' ? '' : whole}${name}other/${member}`;
		view.others({ [member]: members[member] }, known, 'assistant', path);
	}
}

/** Views the tokens of the response, which continue with it, and their alternatives. */
function viewLogprobs(view: ViewBuilder, logprobs: JsonObject, name: string, path: ValuePath): void {
	for (const kind of ['content', 'refusal']) {
		const entries = objectsOf(logprobs[kind]).map(([, entry]) => entry);
		view.block = `${name}logprobs/${kind}`;
		view.copies('assistant', path, entries.map(pieceOf).join(''));
		view.block = `${whole}${name}logprobs/${kind}`;
		const others = entries.flatMap(({ top_logprobs }) => objectsOf(top_logprobs).map(([, other]) => pieceOf(other)));
		view.copies('assistant', path, others.join('\n'));
	}
}

function pieceOf({ token }: JsonObject): string {
	return typeof token === 'string' ? token : '';
}

function viewMessage(view: ViewBuilder, role: string, message: JsonObject, path: ValuePath, segmentGroup: string): void {
	viewContent(view, role, isResult(role) ? 'tool_result' : 'text', message.content, [...path, 'content'], segmentGroup);
	viewRest(view, role, message, path);
	view.string(role, 'name', [...path, 'name'], message.name);
	for (const [index, call] of objectsOf(message.tool_calls)) viewCall(view, role, call, [...path, 'tool_calls', index]);
	if (isJsonObject(message.function_call)) viewFunction(view, role, message.function_call, [...path, 'function_call']);
	if (itemsOf(message.annotations).length > 0) view.json(role, 'citation', [...path, 'annotations'], message.annotations);
	view.others(message, knownMessageMembers, role, path);
}

function viewContent(view: ViewBuilder, role: string, part: TextPart, content: unknown, path: ValuePath, segmentGroup: string): void {
	if (!Array.isArray(content)) view.string(role, part, path, content, segmentGroup);
	for (const [index, item] of itemsOf(content).entries()) {
		const itemPath = [...path, index];
		const type = isJsonObject(item) ? item.type : undefined;
		if (!isJsonObject(item)) view.unknown(role, item, itemPath);
		else if (viewPart(view, role, part, item, itemPath, segmentGroup)) view.others(item, knownPartMembers, role, itemPath);
		else if (unreadableParts.has(type)) viewMedia(view, role, item, itemPath);
		else view.unknown(role, item, itemPath);
	}
}

/** @returns true if the part's type is readable. */
function viewPart(view: ViewBuilder, role: string, part: TextPart, item: JsonObject, path: ValuePath, segmentGroup: string): boolean {
	if (item.type === 'text') view.string(role, part, [...path, 'text'], item.text, segmentGroup);
	else if (item.type === 'refusal') view.string(role, 'refusal', [...path, 'refusal'], item.refusal, segmentGroup);
	else if (item.type === 'file') viewFile(view, role, item.file, [...path, 'file']);
	else return false;
	return true;
}

/** A text is decoded, because models read it. */
function viewFile(view: ViewBuilder, role: string, file: unknown, path: ValuePath): void {
	const { filename, file_data, file_id } = isJsonObject(file) ? file : {};
	view.string(role, 'document', [...path, 'filename'], filename);
	const text = parseTextUrl(file_data, isTextType);
	if (text !== undefined) view.encoded(role, 'document', [...path, 'file_data'], text.head, text.text);
	if (text === undefined || text.isUnclear || file_id !== undefined) view.skip(role, 'file', path);
}

/** Images and audio are unreadable. The text of an SVG is read. */
function viewMedia(view: ViewBuilder, role: string, item: JsonObject, path: ValuePath): void {
	view.skip(role, item.type, path);
	const image = item.image_url;
	const url = isJsonObject(image) ? image.url : image;
	const svg = parseTextUrl(url, isSvgType);
	if (svg === undefined) return;
	view.encoded(role, 'document', isJsonObject(image) ? [...path, 'image_url', 'url'] : [...path, 'image_url'], svg.head, svg.text);
}

/** Views the members that messages and their deltas share. */
function viewRest(view: ViewBuilder, role: string, message: JsonObject, path: ValuePath): void {
	view.string(role, 'refusal', [...path, 'refusal'], message.refusal);
	for (const name of ['reasoning_content', 'reasoning']) view.string(role, 'reasoning', [...path, name], message[name]);
	if (!isJsonObject(message.audio)) return;
	view.string(role, 'transcript', [...path, 'audio', 'transcript'], message.audio.transcript);
	view.skip(role, 'audio', [...path, 'audio']);
}

function viewCall(view: ViewBuilder, role: string, call: JsonObject, path: ValuePath): void {
	if (isJsonObject(call.function)) viewFunction(view, role, call.function, [...path, 'function']);
	if (!isJsonObject(call.custom)) return;
	view.string(role, 'name', [...path, 'custom', 'name'], call.custom.name);
	view.string(role, 'tool_arguments', [...path, 'custom', 'input'], call.custom.input);
}

function viewFunction(view: ViewBuilder, role: string, { name, arguments: written }: JsonObject, path: ValuePath): void {
	view.string(role, 'name', [...path, 'name'], name);
	view.json(role, 'tool_arguments', [...path, 'arguments'], written);
}

/** Each member of a delta is a separate text. */
function viewDelta(view: ViewBuilder, delta: JsonObject, choice: string, path: ValuePath): void {
	view.block = `${choice}content`;
	viewContent(view, 'assistant', 'text', delta.content, [...path, 'content'], '');
	for (const name of ['refusal', 'reasoning_content', 'reasoning', 'audio']) {
		view.block = `${choice}${name}`;
		viewRest(view, 'assistant', { [name]: delta[name] }, path);
	}
	for (const [index, call] of objectsOf(delta.tool_calls)) {
		const key = `${choice}tool/${typeof call.index === 'number' ? call.index : index}`;
		const callPath = [...path, 'tool_calls', index];
		for (const kind of ['function', 'custom']) {
			const called = call[kind];
			if (!isJsonObject(called)) continue;
			view.block = `${key}/name`;
			view.string('assistant', 'name', [...callPath, kind, 'name'], called.name);
			view.block = key;
			if (kind === 'function') view.json('assistant', 'tool_arguments', [...callPath, kind, 'arguments'], called.arguments);
			else view.string('assistant', 'tool_arguments', [...callPath, kind, 'input'], called.input);
		}
	}
	if (isJsonObject(delta.function_call)) {
		view.block = `${choice}function/name`;
		view.string('assistant', 'name', [...path, 'function_call', 'name'], delta.function_call.name);
		view.block = `${choice}function`;
		view.json('assistant', 'tool_arguments', [...path, 'function_call', 'arguments'], delta.function_call.arguments);
	}
	if (itemsOf(delta.annotations).length > 0) {
		view.block = `${choice}annotations`;
		view.json('assistant', 'citation', [...path, 'annotations'], delta.annotations);
	}
	for (const name of Object.keys(delta)) {
		view.block = `${choice}other/${name}`;
		view.others({ [name]: delta[name] }, knownMessageMembers, 'assistant', path);
	}
}

/** A name ends when arguments begin. */
function endedNames(delta: JsonObject, choice: string): readonly string[] {
	return objectsOf(delta.tool_calls).flatMap(([index, call]) => {
		const called = isJsonObject(call.function) ? call.function : call.custom;
		const written = isJsonObject(called) ? (called.arguments ?? called.input) : undefined;
		const isOver = typeof written === 'string' && written !== '';
		return isOver ? [`${choice}tool/${typeof call.index === 'number' ? call.index : index}/name`] : [];
	});
}
