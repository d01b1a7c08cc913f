import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { itemsOf, objectsOf, type TextPart, type TextViews, type ValuePath, ViewBuilder } from '../../text-view.ts';
import { isSvgType, isTextType, parseTextUrl } from '../chat/data-url.ts';

/** Members of a request that no model reads, or that are read by name. */
const knownMembers: ReadonlySet<string> = new Set(
	(
		'model input instructions tools tool_choice prompt text stream stream_options store include metadata user safety_identifier ' +
		'prompt_cache_key prompt_cache_options prompt_cache_retention service_tier truncation background previous_response_id conversation ' +
		'reasoning context_management client_metadata access_programs moderation image'
	).split(' '),
);

/** Members of `text` that contain no text, or are read by name. */
const knownTextMembers: ReadonlySet<string> = new Set(['format', 'verbosity']);

/** Members of a response that echo the request, contain no text, or are read by name. */
const knownResponseMembers: ReadonlySet<string> = new Set([
	...knownMembers,
	...'id object status output output_text error incomplete_details usage tool_usage billing content_filters'.split(' '),
]);

/** Members of items with names, arguments and results of tools, each with its part. */
const toolMembers: ReadonlyMap<string, TextPart> = new Map<string, TextPart>([
	['name', 'name'],
	['namespace', 'name'],
	['server_label', 'name'],
	['environment', 'tool_definition'],
	['input', 'tool_arguments'],
	['action', 'tool_arguments'],
	['actions', 'tool_arguments'],
	['operation', 'tool_arguments'],
	['code', 'tool_arguments'],
	['queries', 'tool_arguments'],
	['outputs', 'tool_result'],
	['results', 'tool_result'],
]);

/** Members of items that contain no text, or are read by name. */
const knownItemMembers: ReadonlySet<string> = new Set([
	...(
		'type id status role phase content summary encrypted_content call_id arguments output tools caller fingerprint execution created_by ' +
		'result approval_request_id container_id'
	).split(' '),
	...toolMembers.keys(),
]);

/** Members of parts that contain no text, or are read by name. */
const knownPartMembers: ReadonlySet<string> = new Set(
	'type text refusal annotations logprobs image_url file_id file_data file_url filename detail prompt_cache_breakpoint'.split(' '),
);

/** Types of parts whose members are read. */
const knownParts: ReadonlySet<unknown> = new Set(
	'input_text output_text text refusal summary_text reasoning_text input_image computer_screenshot input_file'.split(' '),
);

/** Members of events that contain no text, or are read by name. */
const knownEventMembers: ReadonlySet<string> = new Set(
	(
		'type sequence_number output_index content_index summary_index annotation_index partial_image_index item_id response_id stream_id ' +
		'item part response delta text refusal arguments input code logprobs annotation obfuscation partial_image_b64 name error command output diff transcript'
	).split(' '),
);

/** Item types whose members are read. Items with an unknown type are unreadable. */
const knownItems: ReadonlySet<unknown> = new Set(
	(
		'message function_call function_call_output custom_tool_call custom_tool_call_output reasoning item_reference additional_tools ' +
		'tool_search_call tool_search_output configuration_update compaction compaction_trigger computer_call computer_call_output ' +
		'local_shell_call local_shell_call_output shell_call shell_call_output apply_patch_call apply_patch_call_output file_search_call ' +
		'web_search_call code_interpreter_call image_generation_call mcp_list_tools mcp_call mcp_approval_request mcp_approval_response ' +
		'program program_output'
	).split(' '),
);

export function isKnownItemType(type: unknown): boolean {
	return knownItems.has(type);
}

/** Member whose text is JSON. */
const jsonMember = 'arguments';

/** Part of the text in `delta`, and the member that repeats it at the end. */
type StreamedPart = readonly [part: TextPart, member: string];

/** By event type without its last word. */
const streamedParts: Readonly<Record<string, StreamedPart>> = {
	'response.output_text': ['text', 'text'],
	'response.refusal': ['refusal', 'refusal'],
	'response.reasoning_summary_text': ['reasoning', 'text'],
	'response.reasoning_text': ['reasoning', 'text'],
	'response.function_call_arguments': ['tool_arguments', 'arguments'],
	'response.mcp_call_arguments': ['tool_arguments', 'arguments'],
	'response.custom_tool_call_input': ['tool_arguments', 'input'],
	'response.code_interpreter_call_code': ['tool_arguments', 'code'],
	'response.shell_call_command': ['tool_arguments', 'command'],
	'response.shell_call_output_content': ['tool_result', 'output'],
	'response.apply_patch_call_operation_diff': ['tool_arguments', 'diff'],
	'response.audio.transcript': ['transcript', 'transcript'],
};

const responseEvents: readonly string[] = ['created', 'queued', 'in_progress', 'completed', 'incomplete', 'failed'];
const itemEvents: readonly string[] = ['output_item', 'content_part', 'reasoning_summary_part'].flatMap((name) => [
	`${name}.added`,
	`${name}.done`,
]);
const hostedEvents: readonly string[] = Object.entries({
	web_search_call: ['in_progress', 'searching', 'completed'],
	file_search_call: ['in_progress', 'searching', 'completed'],
	code_interpreter_call: ['in_progress', 'interpreting', 'completed'],
	image_generation_call: ['in_progress', 'generating', 'partial_image', 'completed'],
	mcp_list_tools: ['in_progress', 'completed', 'failed'],
	mcp_call: ['in_progress', 'completed', 'failed'],
	compaction: ['compacting'],
	shell_call_command: ['added'],
	audio: ['delta', 'done'],
}).flatMap(([name, ends]) => ends.map((end) => `${name}.${end}`));

const knownEvents: ReadonlySet<string> = new Set([
	'error',
	...[...responseEvents, ...itemEvents, ...hostedEvents, 'output_text.annotation.added'].map((name) => `response.${name}`),
	...Object.keys(streamedParts).flatMap((name) => [`${name}.delta`, `${name}.done`]),
]);

const terminalEvents: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete', 'response.failed', 'error']);

/**
 * Names of threads and blocks. Texts are joined across items, because a match can span two; thoughts until other content follows. A stream
 * repeats each text in several kinds of events, which are joined separately. `whole` ends within its event.
 */
const texts = 'text/';
const thoughts = 'thought/';
const whole = 'whole/';

/** Texts of responses for guardrails. */
export const responsesTextViews: TextViews = {
	eventNames: [...knownEvents],
	request(body) {
		const view = new ViewBuilder();
		view.string('system', 'text', ['instructions'], body.instructions, 'system');
		if (typeof body.input === 'string') view.string('user', 'text', ['input'], body.input, 'input');
		let segmentGroup = '';
		let last = '';
		for (const [index, item] of itemsOf(body.input).entries()) {
			const path = ['input', index];
			if (!isJsonObject(item)) {
				view.unknown('user', item, path);
				continue;
			}
			const role = roleOf(item);
			// Translation merges adjacent messages of one role into one turn, and all instructions.
			const speaker = role === 'developer' ? 'system' : role;
			if (speaker !== last || speaker === 'tool') segmentGroup = path.join('.');
			last = speaker;
			viewItem(view, item, role, path, { text: speaker === 'system' ? speaker : segmentGroup, thought: `${segmentGroup}/${thoughts}` });
		}
		viewTools(view, 'system', body.tools, ['tools']);
		if (isJsonObject(body.tool_choice)) view.json('system', 'tool_definition', ['tool_choice'], body.tool_choice);
		if (isJsonObject(body.prompt)) view.json('user', 'text', ['prompt', 'variables'], body.prompt.variables);
		else view.string('user', 'text', ['prompt'], body.prompt);
		if (isJsonObject(body.text)) {
			view.json('system', 'other', ['text', 'format'], isPlainFormat(body.text.format) ? undefined : body.text.format);
			view.others(body.text, knownTextMembers, 'user', ['text']);
		}
		view.others(body, knownMembers, 'user', []);
		return view;
	},
	response(body) {
		const view = new ViewBuilder();
		viewResponse(view, body, []);
		return view;
	},
	event(event) {
		const view = new ViewBuilder();
		const { type } = event;
		const block = `${numberOf(event.output_index)}/`;
		if (typeof type === 'string' && knownEvents.has(type)) viewKnownEvent(view, event, type, block);
		else view.unknown('assistant', event, []);
		view.ended = endedBy(event, block);
		return view;
	},
};

function isPlainFormat(format: unknown): boolean {
	return isJsonObject(format) && (format.type === 'text' || format.type === 'json_object') && Object.keys(format).length === 1;
}

function numberOf(index: unknown): number {
	return typeof index === 'number' ? index : 0;
}

function endedBy({ type, item }: JsonObject, block: string): readonly string[] {
	if (terminalEvents.has(type)) return [texts, thoughts, whole];
	const ended = [whole];
	if (type === 'response.output_text.delta' || (type === 'response.output_item.added' && isJsonObject(item) && item.type !== 'reasoning')) {
		ended.push(thoughts);
	}
	if (type === 'response.output_item.done') ended.push(block);
	return ended;
}

function viewKnownEvent(view: ViewBuilder, event: JsonObject, type: string, block: string): void {
	const kind = type.slice(0, type.lastIndexOf('.'));
	const streamed = streamedParts[kind];
	if (streamed !== undefined && type.endsWith('.delta')) {
		const place = `${block}${kind}/${numberOf(event.content_index ?? event.summary_index)}`;
		viewDelta(view, event, streamed, place);
	} else if (streamed !== undefined) {
		viewRepeated(view, event, streamed, kind);
	}
	view.block = `${whole}${block}`;
	view.isEachSeparate = true;
	const groups = groupsOf(type);
	if (isJsonObject(event.response)) viewResponse(view, event.response, ['response']);
	else view.string('assistant', 'other', ['response'], event.response);
	if (isJsonObject(event.item)) viewItem(view, event.item, 'assistant', ['item'], groups);
	else view.string('assistant', 'other', ['item'], event.item);
	if (isJsonObject(event.part)) viewPart(view, 'assistant', 'text', event.part, ['part'], groups);
	else view.string('assistant', 'other', ['part'], event.part);
	view.json('assistant', 'citation', ['annotation'], event.annotation);
	view.string('assistant', 'name', ['name'], event.name);
	for (const name of streamedMembers) {
		if (event[name] !== undefined && name !== ownMemberOf(type, streamed)) view.string('assistant', 'other', [name], event[name]);
	}
	view.string('assistant', 'other', ['error'], event.error);
	if (event.partial_image_b64 !== undefined) view.skip('assistant', 'image', ['partial_image_b64']);
	if (type === 'response.audio.delta') view.skip('assistant', 'audio', ['delta']);
	view.others(event, knownEventMembers, 'assistant', []);
}

/** Members that belong to some events. In others, lenient clients may show them. */
const streamedMembers: readonly string[] = ['delta', ...new Set(Object.values(streamedParts).map(([, member]) => member))];

function ownMemberOf(type: string, streamed: StreamedPart | undefined): string | undefined {
	if (type.endsWith('.delta')) return 'delta';
	return streamed?.[1];
}

function viewDelta(view: ViewBuilder, event: JsonObject, [part, member]: StreamedPart, place: string): void {
	view.block = place;
	if (member === jsonMember) view.json('assistant', part, ['delta'], event.delta);
	else view.string('assistant', part, ['delta'], event.delta, groupOf(part, 'delta'));
	viewLogprobs(view, event.logprobs, `${place}/logprobs`, ['logprobs']);
}

/** Views a text that the stream has already sent in pieces. */
function viewRepeated(view: ViewBuilder, event: JsonObject, [part, member]: StreamedPart, kind: string): void {
	view.block = `${whole}${kind}`;
	if (member === jsonMember) view.json('assistant', part, [member], event[member]);
	else view.string('assistant', part, [member], event[member], groupOf(part, 'done'));
	viewLogprobs(view, event.logprobs, `${whole}logprobs`, ['logprobs']);
}

/** @param repetition kind of event that contains the text. */
function groupOf(part: TextPart, repetition: string): string {
	if (part === 'text' || part === 'refusal') return `${texts}${repetition}`;
	return part === 'reasoning' ? `${thoughts}${repetition}` : '';
}

interface Groups {
	/** Segment group of texts. */
	readonly text: string;
	readonly thought: string;
}

function groupsOf(repetition: string): Groups {
	return { text: `${texts}${repetition}`, thought: `${thoughts}${repetition}` };
}

function viewResponse(view: ViewBuilder, response: JsonObject, path: ValuePath): void {
	const groups: Groups = { text: `${whole}output`, thought: `${whole}thought` };
	if (!Array.isArray(response.output)) view.string('assistant', 'other', [...path, 'output'], response.output);
	for (const [index, item] of itemsOf(response.output).entries()) {
		const itemPath = [...path, 'output', index];
		if (isJsonObject(item)) viewItem(view, item, 'assistant', itemPath, groups);
		else view.unknown('assistant', item, itemPath);
	}
	view.string('assistant', 'text', [...path, 'output_text'], response.output_text);
	view.string('assistant', 'other', [...path, 'error'], response.error);
	view.others(response, knownResponseMembers, 'assistant', path);
}

function roleOf({ type, role }: JsonObject): string {
	if (typeof role === 'string' && (type === undefined || type === null || type === 'message')) return role;
	if (type === 'message') return 'user';
	if (type === 'additional_tools' || type === 'tool_search_output') return 'system';
	// A remote server wrote the tools in this list.
	if (type === 'mcp_list_tools') return 'tool';
	return typeof type === 'string' && type.endsWith('_output') ? 'tool' : 'assistant';
}

function viewItem(view: ViewBuilder, item: JsonObject, role: string, path: ValuePath, groups: Groups): void {
	const isTyped = item.type !== undefined && item.type !== null;
	if (isTyped && !knownItems.has(item.type)) {
		view.unknown(role, item, path);
		return;
	}
	// Conversations have thousands of items, so paths are created only for members that an item has.
	const { type, content, summary, tools, output, result } = item;
	if (content !== undefined) viewContent(view, role, type === 'reasoning' ? 'reasoning' : 'text', content, [...path, 'content'], groups);
	if (summary !== undefined) viewContent(view, role, 'reasoning', summary, [...path, 'summary'], groups);
	for (const name in item) {
		const part = toolMembers.get(name);
		if (part !== undefined) view.string(role, part, [...path, name], item[name]);
	}
	if (item.arguments !== undefined) view.json(role, 'tool_arguments', [...path, 'arguments'], item.arguments);
	if (tools !== undefined) viewTools(view, role, tools, [...path, 'tools']);
	if (output !== undefined) viewOutput(view, item, role, [...path, 'output'], groups);
	if (type === 'image_generation_call') view.skip(role, 'image', [...path, 'result']);
	else if (result !== undefined) view.string('tool', 'tool_result', [...path, 'result'], result);
	view.others(item, knownItemMembers, role, path);
}

function viewOutput(view: ViewBuilder, { type, output }: JsonObject, role: string, path: ValuePath, groups: Groups): void {
	if (isJsonObject(output) && output.type === 'computer_screenshot') viewPart(view, role, 'text', output, path, groups);
	else if (type === 'shell_call_output') view.json('tool', 'tool_result', path, output);
	else if (role === 'tool' || typeof output === 'string') viewContent(view, 'tool', 'tool_result', output, path, separate(path));
	else view.json('tool', 'tool_result', path, output);
}

function separate(path: ValuePath): Groups {
	const name = `${whole}${path.join('.')}`;
	return { text: name, thought: name };
}

/** Members that only the MCP server reads. Moderation providers must not receive them. */
const mcpCredentials: ReadonlySet<string> = new Set(['authorization', 'headers']);

/** Views a list of tools; groups of tools are one text. */
function viewTools(view: ViewBuilder, role: string, tools: unknown, path: ValuePath): void {
	for (const [index, tool] of itemsOf(tools).entries()) {
		if (isJsonObject(tool) && tool.type === 'mcp') view.others(tool, mcpCredentials, role, [...path, index]);
		else view.json(role, 'tool_definition', [...path, index], tool);
	}
}

/** @param part kind of a plain text in this place. */
function viewContent(view: ViewBuilder, role: string, part: TextPart, content: unknown, path: ValuePath, groups: Groups): void {
	if (!Array.isArray(content)) view.string(role, part, path, content, part === 'reasoning' ? groups.thought : groups.text);
	for (const [index, item] of itemsOf(content).entries()) {
		const itemPath = [...path, index];
		if (isJsonObject(item)) viewPart(view, role, part, item, itemPath, groups);
		else view.unknown(role, item, itemPath);
	}
}

function viewPart(view: ViewBuilder, role: string, part: TextPart, item: JsonObject, path: ValuePath, groups: Groups): void {
	const { type } = item;
	if (!knownParts.has(type)) {
		view.unknown(role, item, path);
		return;
	}
	// Lenient servers may read members of another type of part.
	const isThought = type === 'summary_text' || type === 'reasoning_text';
	view.string(role, isThought ? 'reasoning' : part, [...path, 'text'], item.text, isThought ? groups.thought : groups.text);
	view.string(role, 'refusal', [...path, 'refusal'], item.refusal, groups.text);
	view.json(role, 'citation', [...path, 'annotations'], item.annotations);
	viewLogprobs(view, item.logprobs, view.block, [...path, 'logprobs']);
	if (type === 'input_image' || type === 'computer_screenshot') viewImage(view, role, item, path);
	if (type === 'input_file') viewFile(view, role, item, path);
	view.others(item, knownPartMembers, role, path);
}

/** Images are unreadable. The text of an SVG is read. */
function viewImage(view: ViewBuilder, role: string, item: JsonObject, path: ValuePath): void {
	view.skip(role, 'image', path);
	const svg = parseTextUrl(item.image_url, isSvgType);
	if (svg !== undefined) view.encoded(role, 'document', [...path, 'image_url'], svg.head, svg.text);
}

/** A text is decoded, because models read it. */
function viewFile(view: ViewBuilder, role: string, { filename, file_data, file_id, file_url }: JsonObject, path: ValuePath): void {
	view.string(role, 'document', [...path, 'filename'], filename);
	const text = parseTextUrl(file_data, isTextType);
	if (text !== undefined) view.encoded(role, 'document', [...path, 'file_data'], text.head, text.text);
	if (text === undefined || text.isUnclear || (file_id ?? file_url ?? undefined) !== undefined) view.skip(role, 'file', path);
}

/** Views the tokens of the response, which continue with it, and their alternatives. */
function viewLogprobs(view: ViewBuilder, logprobs: unknown, block: string, path: ValuePath): void {
	const entries = objectsOf(logprobs).map(([, entry]) => entry);
	if (entries.length === 0) return;
	const before = view.block;
	view.block = block;
	view.copies('assistant', path, entries.map(tokenOf).join(''));
	view.block = `${whole}${block}`;
	const others = entries.flatMap(({ top_logprobs }) => objectsOf(top_logprobs).map(([, other]) => tokenOf(other)));
	view.copies('assistant', path, others.join('\n'));
	view.block = before;
}

function tokenOf({ token }: JsonObject): string {
	return typeof token === 'string' ? token : '';
}
