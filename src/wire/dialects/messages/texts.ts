import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { itemsOf, objectsOf, type TextPart, type TextViews, type ValuePath, ViewBuilder } from '../../text-view.ts';
import { isSvgType, isTextType, parseTextUrl } from '../chat/data-url.ts';

/** Members of a request that no model reads, or that are read by name. */
const knownMembers: ReadonlySet<string> = new Set(
	(
		'messages system tools model stream metadata thinking tool_choice service_tier stop_sequences container mcp_servers ' +
		'betas cache_control inference_geo'
	).split(' '),
);

/** Members of a message that contain no text, or are read by name. */
const knownMessageMembers: ReadonlySet<string> = new Set(['role', 'content']);

/** Members of blocks that contain no text, or are read by name. */
const knownBlockMembers: ReadonlySet<string> = new Set(
	(
		'type text citations thinking signature data id tool_use_id name server_name input caller content is_error title context source ' +
		'cache_control file_id'
	).split(' '),
);

/** Members of a response that contain no text, or are read by name. */
const knownResponseMembers: ReadonlySet<string> = new Set(
	'id type role model content stop_reason stop_sequence stop_details usage container context_management'.split(' '),
);

/** Members of events that contain no text, or are read by name. */
const knownEventMembers: ReadonlySet<string> = new Set('type index message content_block delta usage error context_management'.split(' '));

/** Members of deltas that contain no text, or are read by name. */
const knownDeltaMembers: ReadonlySet<string> = new Set(['type', 'text', 'thinking', 'partial_json', 'citation', 'signature']);

/** Members of the final delta that contain no text, or are read by name. */
const knownEndMembers: ReadonlySet<string> = new Set(['stop_reason', 'stop_sequence', 'stop_details', 'container']);

/** Events without text of a model; the text of an error is read as a member. */
const silentEvents: ReadonlySet<unknown> = new Set(['ping', 'message_stop', 'error']);

/** In a stream, texts are joined across blocks until the response ends, thoughts until other content follows. */
const textSegments = 'text';
const reasoningSegments = 'thought';
const allSegments: readonly string[] = [textSegments, reasoningSegments];

/** Texts of messages for guardrails. */
export const messagesTextViews: TextViews = {
	eventNames: [
		'content_block_delta',
		'content_block_start',
		'content_block_stop',
		'error',
		'message_delta',
		'message_start',
		'message_stop',
		'ping',
	],
	request(body) {
		const view = new ViewBuilder();
		viewContent(view, 'system', 'text', body.system, ['system']);
		let segmentGroup = '';
		let last: unknown;
		for (const [index, message] of objectsOf(body.messages)) {
			const role = typeof message.role === 'string' ? message.role : 'user';
			const path = ['messages', index];
			// Providers and translation merge adjacent messages of one role into one turn.
			if (role !== last) segmentGroup = path.join('.');
			last = role;
			viewContent(view, role, 'text', message.content, [...path, 'content'], segmentGroup);
			view.others(message, knownMessageMembers, role, path);
		}
		for (const [index, tool] of objectsOf(body.tools)) view.json('system', 'tool_definition', ['tools', index], tool);
		if (isJsonObject(body.tool_choice)) view.json('system', 'tool_definition', ['tool_choice'], body.tool_choice);
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
		const block = `${typeof event.index === 'number' ? event.index : 0}/`;
		const isKnown = viewKnownEvent(view, event, block);
		view.block = `${block}other`;
		view.isEachSeparate = true;
		view.string('assistant', 'other', ['error'], event.error);
		if (isKnown) view.others(event, knownEventMembers, 'assistant', []);
		else view.unknown('assistant', event, []);
		view.ended = [...endedBy(event, block), `${block}start`, `${block}other`, `${block}citation`];
		return view;
	},
};

/** @returns true if the event's type is known. */
function viewKnownEvent(view: ViewBuilder, event: JsonObject, block: string): boolean {
	if (silentEvents.has(event.type) || event.type === 'content_block_stop') return true;
	if (event.type === 'content_block_delta' && isJsonObject(event.delta)) {
		viewDelta(view, event.delta, block);
		return true;
	}
	view.block = `${block}start`;
	view.isEachSeparate = true;
	if (event.type === 'message_start' && isJsonObject(event.message)) {
		viewResponse(view, event.message, ['message']);
	} else if (event.type === 'content_block_start' && isJsonObject(event.content_block)) {
		viewStart(view, event.content_block, block);
	} else if (event.type === 'message_delta' && isJsonObject(event.delta)) {
		viewEnd(view, event.delta, ['delta']);
		view.others(event.delta, knownEndMembers, 'assistant', ['delta']);
	} else {
		return false;
	}
	return true;
}

function endedBy(event: JsonObject, block: string): readonly string[] {
	if (event.type === 'message_stop' || event.type === 'error') return allSegments;
	if (event.type === 'content_block_stop') return [block];
	const isThought = event.type !== 'content_block_start' || !isJsonObject(event.content_block) || event.content_block.type === 'thinking';
	return isThought ? [] : [reasoningSegments];
}

function viewResponse(view: ViewBuilder, response: JsonObject, path: ValuePath): void {
	viewContent(view, 'assistant', 'text', response.content, [...path, 'content']);
	viewEnd(view, response, path);
	view.others(response, knownResponseMembers, 'assistant', path);
}

/** Views the end of a response: a `refusal` explains itself in text. */
function viewEnd(view: ViewBuilder, { stop_details }: JsonObject, path: ValuePath): void {
	if (isJsonObject(stop_details)) view.string('assistant', 'refusal', [...path, 'stop_details', 'explanation'], stop_details.explanation);
}

/** @param segmentGroup for its texts; by default a separate one. */
function viewContent(
	view: ViewBuilder,
	role: string,
	part: TextPart,
	content: unknown,
	path: ValuePath,
	segmentGroup = `${view.block}${path.join('.')}`,
): void {
	if (!Array.isArray(content)) view.string(role, part, path, content, segmentGroup);
	for (const [index, block] of itemsOf(content).entries()) {
		const blockPath = [...path, index];
		if (isJsonObject(block)) viewBlock(view, role, part, block, blockPath, segmentGroup);
		else view.unknown(role, block, blockPath);
	}
}

/** @param part kind of a plain text in this place. */
function viewBlock(view: ViewBuilder, role: string, part: TextPart, block: JsonObject, path: ValuePath, segmentGroup: string): void {
	if (viewKnownBlock(view, role, part, block, path, segmentGroup)) view.others(block, knownBlockMembers, role, path);
}

/** @returns true for a block type whose members are known. */
function viewKnownBlock(
	view: ViewBuilder,
	role: string,
	part: TextPart,
	block: JsonObject,
	path: ValuePath,
	segmentGroup: string,
): boolean {
	switch (block.type) {
		case 'text':
			view.string(role, part, [...path, 'text'], block.text, segmentGroup);
			view.json(role, 'citation', [...path, 'citations'], block.citations);
			break;
		case 'thinking':
			view.string(role, 'reasoning', [...path, 'thinking'], block.thinking, `${segmentGroup}/${reasoningSegments}`);
			break;
		// Only its vendor can read and write it.
		case 'redacted_thinking':
			break;
		case 'tool_use':
		case 'server_tool_use':
		case 'mcp_tool_use':
			view.string(role, 'name', [...path, 'name'], block.name);
			view.json(role, 'tool_arguments', [...path, 'input'], block.input);
			break;
		case 'tool_result':
		case 'mcp_tool_result':
			viewContent(view, 'tool', 'tool_result', block.content, [...path, 'content']);
			break;
		case 'search_result':
			for (const name of ['title', 'source']) view.string(role, 'document', [...path, name], block[name]);
			viewContent(view, role, 'document', block.content, [...path, 'content']);
			break;
		case 'document':
			viewDocument(view, role, block, path);
			break;
		case 'image':
			viewImage(view, role, block, path);
			break;
		case 'container_upload':
			view.skip(role, block.type, path);
			break;
		default:
			if (typeof block.type === 'string' && block.type.endsWith('_tool_result')) view.json('tool', 'tool_result', path, block);
			else view.unknown(role, block, path);
			return false;
	}
	return true;
}

/** Images are unreadable. The text of an SVG is read. */
function viewImage(view: ViewBuilder, role: string, block: JsonObject, path: ValuePath): void {
	view.skip(role, 'image', path);
	const source = isJsonObject(block.source) ? block.source : {};
	const svg = parseTextUrl(source.url, isSvgType);
	if (svg !== undefined) view.encoded(role, 'document', [...path, 'source', 'url'], svg.head, svg.text);
	else if (isTextType(source.media_type) && typeof source.data === 'string') {
		view.encoded(role, 'document', [...path, 'source', 'data'], '', Buffer.from(source.data, 'base64').toString());
	}
}

function viewDocument(view: ViewBuilder, role: string, block: JsonObject, path: ValuePath): void {
	for (const name of ['title', 'context']) view.string(role, 'document', [...path, name], block[name]);
	const source = isJsonObject(block.source) ? block.source : {};
	if (source.type === 'base64' && isTextType(source.media_type) && typeof source.data === 'string') {
		view.encoded(role, 'document', [...path, 'source', 'data'], '', Buffer.from(source.data, 'base64').toString());
	} else if (source.type === 'text') view.string(role, 'document', [...path, 'source', 'data'], source.data);
	else if (source.type === 'content') viewContent(view, role, 'document', source.content, [...path, 'source', 'content']);
	else view.skip(role, 'document', path);
}

function viewStart(view: ViewBuilder, block: JsonObject, key: string): void {
	const path = ['content_block'];
	const isText = block.type === 'text';
	if (block.type !== 'thinking') viewBlock(view, 'assistant', 'text', isText ? { ...block, text: '' } : block, path, `${key}start`);
	// Deltas continue the text that the block begins with; its other members are separate texts.
	view.block = `${key}text`;
	view.isEachSeparate = false;
	if (isText) view.string('assistant', 'text', [...path, 'text'], block.text, textSegments);
	else if (block.type === 'thinking') view.string('assistant', 'reasoning', [...path, 'thinking'], block.thinking, reasoningSegments);
}

function viewDelta(view: ViewBuilder, delta: JsonObject, key: string): void {
	view.block = `${key}text`;
	view.string('assistant', 'text', ['delta', 'text'], delta.text, textSegments);
	view.string('assistant', 'reasoning', ['delta', 'thinking'], delta.thinking, reasoningSegments);
	view.json('assistant', 'tool_arguments', ['delta', 'partial_json'], delta.partial_json);
	view.block = `${key}citation`;
	if (delta.citation !== undefined) view.json('assistant', 'citation', ['delta', 'citation'], delta.citation);
	view.block = `${key}rest`;
	view.others(delta, knownDeltaMembers, 'assistant', ['delta']);
}
