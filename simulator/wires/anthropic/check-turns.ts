import { isGiven, isObject, type JsonObject, listOf, objectOf, textOf } from '../../json-value.ts';
import { type MessageCheck, newestVersion, reject } from './message-check.ts';
import { blocksOf } from './read-message.ts';
import { isOwnSignature } from './sign-thinking.ts';

interface Turn {
	readonly role: string;
	/** Index of the first message that was merged into the turn. */
	readonly index: number;
	readonly blocks: JsonObject[];
}

/** Checks roles, contents and returned thinking blocks, and that tool uses and tool results match. */
export function checkTurns(body: JsonObject, check: MessageCheck): void {
	if (!isGiven(body['messages'])) reject('messages: Field required');
	if (!Array.isArray(body['messages'])) reject('messages: Input should be a valid list');
	const messages = listOf(body['messages']);
	if (messages.length === 0) reject('messages: at least one message is required');
	const turns: Turn[] = [];
	for (const [index, message] of messages.entries()) {
		checkMessageShape(message, index, check);
		const role = textOf(objectOf(message)['role']);
		const blocks = blocksOf(objectOf(message)['content']);
		for (const [at, block] of blocks.entries()) checkBlock(block, `messages.${index}.content.${at}`, role, check);
		const last = turns.at(-1);
		if (last?.role === role) last.blocks.push(...blocks);
		else turns.push({ role, index, blocks: [...blocks] });
	}
	checkToolPairs(turns);
	checkThinkingTurns(turns, body);
	checkEnding(messages.at(-1), check);
}

function checkMessageShape(message: unknown, index: number, { model }: MessageCheck): void {
	if (!isObject(message)) reject(`messages.${index}: Input should be a valid dictionary or object to extract fields from`);
	const { role, content } = objectOf(message);
	if (role === 'system') {
		if (!model.takesMidSystem) {
			reject(
				'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.',
			);
		}
	} else if (role !== 'user' && role !== 'assistant') {
		reject(`messages: Unexpected role "${String(role)}". Allowed roles are "user" or "assistant"`);
	}
	if (!isGiven(content)) reject(`messages.${index}.content: Field required`);
	if (typeof content !== 'string' && !Array.isArray(content)) reject(`messages.${index}.content: Input should be a valid list`);
	if (content === '' || (Array.isArray(content) && content.length === 0 && role === 'user')) {
		reject(`messages.${index}: ${role} messages must have non-empty content`);
	}
}

function checkBlock(block: JsonObject, path: string, role: string, check: MessageCheck): void {
	switch (block['type']) {
		case 'text':
			if (typeof block['text'] !== 'string') reject(`${path}.text.text: Field required`);
			if (block['text'] === '') reject('messages: text content blocks must be non-empty');
			if (textOf(block['text']).trim() === '') reject('messages: text content blocks must contain non-whitespace text');
			if (check.version === newestVersion && role === 'user' && listOf(block['citations']).length > 0) {
				reject(`${path}.text.citations: citations are not permitted in user text blocks`);
			}
			return;
		case 'thinking':
			if (typeof block['signature'] !== 'string') reject(`${path}.thinking.signature: Field required`);
			if (!isOwnSignature(textOf(block['signature']), textOf(block['thinking']))) {
				reject(`${path}: Invalid \`signature\` in \`thinking\` block`);
			}
			return;
		case 'tool_use':
			if (!/^[a-zA-Z0-9_-]+$/.test(textOf(block['id']))) reject(`${path}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
			if (!isObject(block['input'])) reject(`${path}.tool_use.input: Input should be a valid dictionary`);
			if (typeof block['name'] !== 'string') reject(`${path}.tool_use.name: Field required`);
			return;
		case 'tool_result':
			for (const inner of blocksOf(block['content'] ?? [])) {
				if (inner['type'] === 'text' && Array.isArray(block['content']) && textOf(inner['text']) === '') {
					reject('messages: text content blocks must be non-empty');
				}
			}
			return;
		case 'document':
			if (check.version === newestVersion && role === 'assistant') {
				reject(`${path}: document blocks are not permitted in assistant messages`);
			}
			return;
		case undefined:
			reject(`${path}.type: Field required`);
			return;
		case 'image_url':
		case 'input_text':
			reject(
				`${path}: Input tag '${block['type']}' found using 'type' does not match any of the expected tags: 'document', 'image', 'text', 'tool_result', 'tool_use'`,
			);
	}
}

function checkToolPairs(turns: readonly Turn[]): void {
	for (const [at, turn] of turns.entries()) {
		const next = turns[at + 1];
		const uses =
			turn.role === 'assistant' ? turn.blocks.filter((block) => block['type'] === 'tool_use').map((block) => textOf(block['id'])) : [];
		const responded = next === undefined ? [] : leadingResults(next.blocks);
		const missing = uses.filter((id) => !responded.includes(id));
		if (missing.length > 0) {
			reject(
				`messages.${turn.index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}. ` +
					'Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
			);
		}
		const previous = turns[at - 1];
		const known =
			previous?.role === 'assistant'
				? previous.blocks.filter((block) => block['type'] === 'tool_use').map((block) => textOf(block['id']))
				: [];
		for (const [index, block] of turn.blocks.entries()) {
			if (block['type'] === 'tool_result' && !known.includes(textOf(block['tool_use_id']))) {
				reject(
					`messages.${turn.index}.content.${index}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${textOf(block['tool_use_id'])}. ` +
						'Each `tool_result` block must have a corresponding `tool_use` block in the previous message.',
				);
			}
		}
	}
}

/** Returns ids of tool results, which are valid only before any other content. */
function leadingResults(blocks: readonly JsonObject[]): string[] {
	const end = blocks.findIndex((block) => block['type'] !== 'tool_result');
	return blocks.slice(0, end === -1 ? blocks.length : end).map((block) => textOf(block['tool_use_id']));
}

/** Requires that an open tool loop with manual thinking begins with its thinking block. */
function checkThinkingTurns(turns: readonly Turn[], body: JsonObject): void {
	if (objectOf(body['thinking'])['type'] !== 'enabled') return;
	const last = turns.at(-1);
	const assistant = turns.at(-2);
	if (last?.role !== 'user' || assistant === undefined || !last.blocks.some((block) => block['type'] === 'tool_result')) return;
	const first = assistant.blocks[0]?.['type'];
	if (first !== 'thinking' && first !== 'redacted_thinking') {
		reject(
			`messages.${assistant.index}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${String(first)}\`. ` +
				'When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks).',
		);
	}
}

function checkEnding(message: unknown, { model }: MessageCheck): void {
	const { role, content } = objectOf(message);
	if (role !== 'assistant') return;
	if (!model.takesPrefill) {
		reject('This model does not support assistant message prefill. The conversation must end with a user message.');
	}
	const last = blocksOf(content).at(-1);
	if (last?.['type'] === 'text' && /\s$/.test(textOf(last['text']))) {
		reject('messages: final assistant content cannot end with trailing whitespace');
	}
}
