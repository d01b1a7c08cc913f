import type { AssistantPart, Capability, ContentPart, ToolCall, Turn, UserTurn } from '../../conversation/conversation.ts';
import { signedThinkingOf, thoughtSignatureOf } from '../../conversation/extensions.ts';
import { isTrue, type JsonView, objectIn, requireObject, requireText } from '../../conversation/json-view.ts';
import { rejectField } from '../../conversation/reject-field.ts';
import type { RequestWarnings } from '../../conversation/request-warnings.ts';
import { type PairingWords, ToolPairing } from '../../conversation/tool-pairing.ts';
import { BlockReader, blocksOf, noEquivalent, readTexts } from './request-parts.ts';
import { describeServerBlock } from './server-blocks.ts';

const unasked = 'must be the id of a `tool_use` in the assistant message before, answered once';

const pairingWords: PairingWords = {
	unasked,
	repeatedResult: unasked,
	unanswered: 'must have its `tool_result` in the user message that follows',
	unansweredMember: '.id',
	repeatedCall: 'must differ from the ids of the other calls',
};

/** Consecutive messages of one role go on with what the first one says. @throws Refusal `field_invalid`. */
export function* readTurns(request: JsonView, takes: ReadonlySet<Capability>, warnings: RequestWarnings): Generator<Turn> {
	const system = request.member('system');
	if (system.isGiven) yield systemTurn(system, requireTextBlocks(system));
	const reader = new BlockReader(takes, warnings);
	const pairing = new ToolPairing(pairingWords);
	const messages = request.member('messages').items();
	for (let start = 0, end = 0; start < messages.length; start = end) {
		const role = roleAt(messages, start);
		end = start + 1;
		while (end < messages.length && roleAt(messages, end) === role) end++;
		const run = messages.slice(start, end);
		switch (role) {
			case 'user': {
				const turn = readUser(run, pairing, reader);
				if (turn !== undefined && pairing.isAwaitingResults) rejectOpaque(turn);
				const results = turn === undefined ? undefined : pairing.close();
				if (results !== undefined) yield results;
				if (turn !== undefined) yield turn;
				break;
			}
			case 'assistant': {
				const results = pairing.close();
				if (results !== undefined) yield results;
				for (const message of run) yield readAssistant(message, pairing);
				break;
			}
			case 'system': {
				const results = pairing.closeForInstructions(takes);
				if (results !== undefined) yield results;
				for (const message of run) yield systemTurn(message, message.member('content'));
				break;
			}
			default:
				rejectField(`messages[${start}].role`, 'must be `user`, `assistant` or `system`');
		}
	}
	const results = pairing.close();
	if (results !== undefined) yield results;
}

function roleAt(messages: readonly JsonView[], index: number): string | undefined {
	const message = messages[index];
	return message === undefined ? undefined : requireObject(message).member('role').text();
}

function requireTextBlocks(system: JsonView): JsonView {
	const isRead = system.kind === 'string' || system.kind === 'array';
	return isRead ? system : rejectField(system.path, 'must be a string or an array of text blocks');
}

function systemTurn(at: JsonView, content: JsonView): Turn {
	return { role: 'system', at, parts: readTexts(content), isOneText: false };
}

/** Results go to their calls; what the user says besides is one turn after them. @returns undefined for results alone. */
function readUser(messages: readonly JsonView[], pairing: ToolPairing, reader: BlockReader): UserTurn | undefined {
	const parts: ContentPart[] = [];
	let hasResults = false;
	for (const message of messages) {
		for (const block of blocksOf(message.member('content'))) {
			if (block.member('type').text() === 'tool_result') {
				addResult(block, pairing, reader);
				hasResults = true;
			} else {
				for (const part of reader.block(block)) parts.push(part);
			}
		}
	}
	const [at] = messages;
	if (at === undefined || (parts.length === 0 && hasResults)) return undefined;
	return parts.length > 0 ? { role: 'user', at, parts } : rejectField(`${at.path}.content`, 'must hold something else than empty text');
}

/** A block of a kind that nobody knows may have been meant as the result that is missing. */
function rejectOpaque({ parts }: UserTurn): void {
	for (const part of parts) if (part.type === 'opaque') rejectField(part.at.path, part.cure);
}

function addResult(block: JsonView, pairing: ToolPairing, reader: BlockReader): void {
	const at = block.member('tool_use_id');
	const call = pairing.callOf(requireText(at), at);
	const content = block.member('content');
	const parts = content.isGiven ? reader.content(content) : [];
	pairing.answer({ type: 'result', at, call, content: content.text() ?? parts, isError: isTrue(block.member('is_error')) });
}

function readAssistant(message: JsonView, pairing: ToolPairing): Turn {
	const parts = blocksOf(message.member('content')).map(assistantPart);
	for (const part of parts) if (part.type === 'call') pairing.open(part);
	return { role: 'assistant', at: message, parts, signature: undefined };
}

function assistantPart(block: JsonView): AssistantPart {
	if (block.kind === 'string') return { type: 'text', at: block, text: requireText(block) };
	switch (block.member('type').text()) {
		case 'text':
			return { type: 'text', at: block, text: requireText(block.member('text')) };
		case 'thinking':
		case 'redacted_thinking':
			return { type: 'reasoning', at: block, field: 'thinking', vendor: 'anthropic', signed: signedThinkingOf(block) };
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
		id: requireText(block.member('id')),
		name: requireText(block.member('name')),
		arguments: { text: () => JSON.stringify(object), object: () => object },
		signature: thoughtSignatureOf(block),
	};
}
