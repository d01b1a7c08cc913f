import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { itemsOf, objectsOf, type TextPart, type TextViews, type ValuePath, ViewBuilder } from '../../text-view.ts';

/** Members of a request that no model reads, or that are looked at by name. */
const knownMembers: ReadonlySet<string> = new Set(
	(
		'messages tools functions model stream stream_options user metadata store service_tier stop tool_choice function_call audio modalities ' +
		'logit_bias reasoning_effort verbosity seed safety_identifier prompt_cache_key prompt_cache_retention web_search_options'
	).split(' '),
);

/** Members of a message or an increment that hold no text, or are looked at by name. */
const knownMessageMembers: ReadonlySet<string> = new Set(
	'role content refusal reasoning reasoning_content audio name tool_calls tool_call_id function_call annotations'.split(' '),
);

const unreadableParts: ReadonlySet<unknown> = new Set(['image_url', 'input_audio', 'file']);

/** What guardrails see of chat completions. */
export const chatTextViews: TextViews = {
	request(body) {
		const view = new ViewBuilder();
		for (const [index, message] of objectsOf(body.messages)) {
			const role = typeof message.role === 'string' ? message.role : 'user';
			viewMessage(view, role, message, ['messages', index]);
		}
		for (const name of ['tools', 'functions']) {
			for (const [index, tool] of objectsOf(body[name])) view.json('system', 'tool_definition', [name, index], tool);
		}
		view.others(body, knownMembers, 'user', []);
		return view;
	},
	answer(body) {
		const view = new ViewBuilder();
		for (const [index, choice] of objectsOf(body.choices)) {
			if (isJsonObject(choice.message)) viewMessage(view, 'assistant', choice.message, ['choices', index, 'message']);
			view.string('assistant', 'text', ['choices', index, 'text'], choice.text);
		}
		return view;
	},
	event(event) {
		const view = new ViewBuilder();
		const ended: string[] = [];
		for (const [index, choice] of objectsOf(event.choices)) {
			const number = typeof choice.index === 'number' ? choice.index : index;
			if (isJsonObject(choice.delta)) {
				viewDelta(view, choice.delta, `${number}/`, ['choices', index, 'delta']);
				ended.push(...endedNames(choice.delta, `${number}/`));
			}
			if (typeof choice.finish_reason === 'string') ended.push(`${number}/`);
		}
		view.ended = ended;
		return view;
	},
};

function viewMessage(view: ViewBuilder, role: string, message: JsonObject, path: ValuePath): void {
	const part = role === 'tool' || role === 'function' ? 'tool_result' : 'text';
	viewContent(view, role, part, message.content, [...path, 'content']);
	viewRest(view, role, message, path);
	view.string(role, 'name', [...path, 'name'], message.name);
	for (const [index, call] of objectsOf(message.tool_calls)) viewCall(view, role, call, [...path, 'tool_calls', index]);
	if (isJsonObject(message.function_call)) viewFunction(view, role, message.function_call, [...path, 'function_call']);
	if (itemsOf(message.annotations).length > 0) view.json(role, 'citation', [...path, 'annotations'], message.annotations);
	view.others(message, knownMessageMembers, role, path);
}

function viewContent(view: ViewBuilder, role: string, part: TextPart, content: unknown, path: ValuePath): void {
	view.string(role, part, path, content);
	for (const [index, item] of itemsOf(content).entries()) {
		const itemPath = [...path, index];
		const type = isJsonObject(item) ? item.type : undefined;
		if (!isJsonObject(item)) view.unknown(role, item, itemPath);
		else if (type === 'text') view.string(role, part, [...itemPath, 'text'], item.text);
		else if (type === 'refusal') view.string(role, 'refusal', [...itemPath, 'refusal'], item.refusal);
		else if (unreadableParts.has(type)) view.skip(role, type, itemPath);
		else view.unknown(role, item, itemPath);
	}
}

/** What messages and their increments have in common. */
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

/** Each member of an increment is a text of its own. */
function viewDelta(view: ViewBuilder, delta: JsonObject, choice: string, path: ValuePath): void {
	view.block = `${choice}content`;
	viewContent(view, 'assistant', 'text', delta.content, [...path, 'content']);
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

/** A name is over when arguments come. */
function endedNames(delta: JsonObject, choice: string): readonly string[] {
	return objectsOf(delta.tool_calls).flatMap(([index, call]) => {
		const called = isJsonObject(call.function) ? call.function : call.custom;
		const written = isJsonObject(called) ? (called.arguments ?? called.input) : undefined;
		const isOver = typeof written === 'string' && written !== '';
		return isOver ? [`${choice}tool/${typeof call.index === 'number' ? call.index : index}/name`] : [];
	});
}
