import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { itemsOf, objectsOf, type TextPart, type TextViews, type ValuePath, ViewBuilder } from '../../text-view.ts';

/** Members of a request that no model reads, or that are looked at by name. */
const knownMembers: ReadonlySet<string> = new Set(
	(
		'messages system tools model stream metadata thinking tool_choice service_tier stop_sequences container context_management ' +
		'mcp_servers betas cache_control inference_geo'
	).split(' '),
);

/** Members of increments that hold no text, or are looked at by name. */
const knownDeltaMembers: ReadonlySet<string> = new Set(['type', 'text', 'thinking', 'partial_json', 'citation', 'signature']);

/** Events that hold no text of a model's, and errors, which are the provider's own words. */
const silentEvents: ReadonlySet<unknown> = new Set(['ping', 'message_start', 'message_delta', 'message_stop', 'error']);

/** What guardrails see of messages. */
export const messagesTextViews: TextViews = {
	request(body) {
		const view = new ViewBuilder();
		viewContent(view, 'system', 'text', body.system, ['system']);
		for (const [index, message] of objectsOf(body.messages)) {
			const role = typeof message.role === 'string' ? message.role : 'user';
			viewContent(view, role, 'text', message.content, ['messages', index, 'content']);
		}
		for (const [index, tool] of objectsOf(body.tools)) view.json('system', 'tool_definition', ['tools', index], tool);
		view.others(body, knownMembers, 'user', []);
		return view;
	},
	answer(body) {
		const view = new ViewBuilder();
		viewContent(view, 'assistant', 'text', body.content, ['content']);
		return view;
	},
	event(event) {
		const view = new ViewBuilder();
		const block = `${typeof event.index === 'number' ? event.index : 0}/`;
		if (event.type === 'message_start' && isJsonObject(event.message)) {
			view.block = 'start';
			viewContent(view, 'assistant', 'text', event.message.content, ['message', 'content']);
		} else if (event.type === 'content_block_start' && isJsonObject(event.content_block)) {
			viewStart(view, event.content_block, block);
			// These are whole, unlike the text.
			view.ended = [`${block}start`];
		} else if (event.type === 'content_block_delta' && isJsonObject(event.delta)) {
			viewDelta(view, event.delta, block);
			if (event.delta.citation !== undefined) view.ended = [`${block}citation`];
		} else if (event.type === 'content_block_stop') {
			view.ended = [block];
		} else if (!silentEvents.has(event.type)) {
			view.block = `${block}other`;
			view.unknown('assistant', event, []);
		}
		return view;
	},
};

function viewContent(view: ViewBuilder, role: string, part: TextPart, content: unknown, path: ValuePath): void {
	view.string(role, part, path, content);
	for (const [index, block] of itemsOf(content).entries()) {
		const blockPath = [...path, index];
		if (isJsonObject(block)) viewBlock(view, role, part, block, blockPath);
		else view.unknown(role, block, blockPath);
	}
}

/** @param part what a plain text counts as here. */
function viewBlock(view: ViewBuilder, role: string, part: TextPart, block: JsonObject, path: ValuePath): void {
	switch (block.type) {
		case 'text':
			view.string(role, part, [...path, 'text'], block.text);
			view.json(role, 'citation', [...path, 'citations'], block.citations);
			break;
		case 'thinking':
			view.string(role, 'reasoning', [...path, 'thinking'], block.thinking);
			break;
		// Nobody but its vendor can read it, and nobody but its vendor wrote it.
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
		case 'container_upload':
			view.skip(role, block.type, path);
			break;
		default:
			if (typeof block.type === 'string' && block.type.endsWith('_tool_result')) view.json('tool', 'tool_result', path, block);
			else view.unknown(role, block, path);
	}
}

function viewDocument(view: ViewBuilder, role: string, block: JsonObject, path: ValuePath): void {
	for (const name of ['title', 'context']) view.string(role, 'document', [...path, name], block[name]);
	const source = isJsonObject(block.source) ? block.source : {};
	if (source.type === 'text') view.string(role, 'document', [...path, 'source', 'data'], source.data);
	else if (source.type === 'content') viewContent(view, role, 'document', source.content, [...path, 'source', 'content']);
	else view.skip(role, 'document', path);
}

function viewStart(view: ViewBuilder, block: JsonObject, key: string): void {
	const path = ['content_block'];
	// The increments that follow go on with what the block begins with; its other members are texts of their own.
	view.block = `${key}text`;
	if (block.type === 'text') view.string('assistant', 'text', [...path, 'text'], block.text);
	else if (block.type === 'thinking') view.string('assistant', 'reasoning', [...path, 'thinking'], block.thinking);
	view.block = `${key}start`;
	if (block.type !== 'thinking') viewBlock(view, 'assistant', 'text', block.type === 'text' ? { ...block, text: '' } : block, path);
}

function viewDelta(view: ViewBuilder, delta: JsonObject, key: string): void {
	view.block = `${key}text`;
	view.string('assistant', 'text', ['delta', 'text'], delta.text);
	view.string('assistant', 'reasoning', ['delta', 'thinking'], delta.thinking);
	view.json('assistant', 'tool_arguments', ['delta', 'partial_json'], delta.partial_json);
	view.block = `${key}citation`;
	if (delta.citation !== undefined) view.json('assistant', 'citation', ['delta', 'citation'], delta.citation);
	view.block = `${key}other`;
	view.others(delta, knownDeltaMembers, 'assistant', ['delta']);
}
