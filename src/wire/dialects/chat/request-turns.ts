import type {
	AssistantPart,
	Capability,
	ReasoningPart,
	ResultsTurn,
	ToolArguments,
	ToolCall,
	Turn,
	VendorSignature,
} from '../../conversation/conversation.ts';
import { signedThinkingOf, thoughtSignatureOf } from '../../conversation/extensions.ts';
import { type JsonView, requireObject, requireText } from '../../conversation/json-view.ts';
import { parseArguments } from '../../conversation/read-json.ts';
import { rejectField } from '../../conversation/reject-field.ts';
import { type PairingWords, ToolPairing } from '../../conversation/tool-pairing.ts';
import { readContent, readTexts } from './request-parts.ts';

const pairingWords: PairingWords = {
	unasked: 'names no tool call of the assistant message before it: send each result right after its call',
	repeatedResult: 'names a tool call that has a result already: send one result for each call',
	unanswered: 'has no result: send a `tool` message for each call right after its message',
	unansweredMember: '',
	repeatedCall: 'is the id of another call of the message: give each call its own',
};

/** Each message is a turn, but results are one. @throws Refusal `field_invalid`. */
export function* readTurns(messages: JsonView, takes: ReadonlySet<Capability>): Generator<Turn> {
	if (messages.kind !== 'array') rejectField(messages.path, 'must be an array');
	const pairing = new ToolPairing(pairingWords);
	for (const [index, message] of messages.items().entries()) {
		const turn = readTurn(requireObject(message), index, takes, pairing);
		if (turn === undefined) continue;
		const results = resultsBefore(turn, takes, pairing);
		if (results !== undefined) yield results;
		if (turn.role === 'assistant') for (const part of turn.parts) if (part.type === 'call') pairing.open(part);
		yield turn;
	}
	const results = pairing.close();
	if (results !== undefined) yield results;
}

/** What a message says; undefined for a result, which waits for those of the other calls. */
function readTurn(message: JsonView, index: number, takes: ReadonlySet<Capability>, pairing: ToolPairing): Turn | undefined {
	const content = message.member('content');
	switch (message.member('role').text()) {
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

/** A turn that says nothing comes before no results. @throws Refusal `field_invalid` for a call without. */
function resultsBefore(turn: Turn, takes: ReadonlySet<Capability>, pairing: ToolPairing): ResultsTurn | undefined {
	if (turn.role === 'results' || turn.parts.length === 0) return undefined;
	return turn.role === 'system' ? pairing.closeForInstructions(takes) : pairing.close();
}

function addResult(content: JsonView, at: JsonView, id: string, takes: ReadonlySet<Capability>, pairing: ToolPairing): void {
	const call = pairing.callOf(id, at);
	pairing.answer({ type: 'result', at, call, content: content.text() ?? readContent(content, takes), isError: false });
}

/** Reasoning, then text, then calls: the order in which they were made. */
function assistantParts(message: JsonView, index: number, takes: ReadonlySet<Capability>): readonly AssistantPart[] {
	if (message.member('audio').isGiven) {
		const why = takes.has('audio') ? 'this model does not know what another one spoke' : 'this model neither hears nor speaks';
		rejectField(`${message.path}.audio`, `cannot be passed on: ${why}. Send its transcript`);
	}
	const said = [...readTexts(message.member('content'), takes), ...readTexts(message.member('refusal'), takes)];
	const calls = readCalls(message, index);
	if (said.length === 0 && calls.length === 0) return [];
	return [...message.member('thinking_blocks').items().map(reasoningPart), ...said, ...calls];
}

function reasoningPart(block: JsonView): ReasoningPart {
	return { type: 'reasoning', at: block, field: 'thinking_blocks', vendor: 'anthropic', signed: signedThinkingOf(block) };
}

function readCalls(message: JsonView, index: number): readonly AssistantPart[] {
	const list = message.member('tool_calls');
	if (list.isGiven && list.kind !== 'array') rejectField(list.path, 'must be an array');
	const calls = list.items().map((call) => {
		requireObject(call);
		const type = call.member('type');
		const isFunction = !type.isGiven || type.text() === 'function';
		if (!isFunction) return { at: type, cure: 'must be `function`: this model has no custom tools' };
		return { at: call, called: functionOf(call.member('function')), signature: thoughtSignatureOf(call) };
	});
	const parts = calls.map(
		({ at, called, cure = '', signature }): AssistantPart =>
			called === undefined ? { type: 'opaque', at, text: undefined, cure } : callPart(at, requireText(at.member('id')), called, signature),
	);
	const legacy = message.member('function_call');
	return legacy.isGiven ? [...parts, callPart(legacy, `call_${index}`, functionOf(legacy), undefined)] : parts;
}

function callPart(at: JsonView, id: string, called: CalledFunction, signature: VendorSignature | undefined): ToolCall {
	return { type: 'call', at, id, ...called, signature };
}

type CalledFunction = Pick<ToolCall, 'name' | 'arguments'>;

function functionOf(called: JsonView): CalledFunction {
	const name = requireText(called.member('name'));
	const view = called.member('arguments');
	if (view.isGiven && view.kind !== 'string') rejectArguments(view);
	return { name, arguments: textualArguments(view) };
}

function textualArguments(view: JsonView): ToolArguments {
	const text = (): string => view.text() ?? '';
	return { text, object: () => parseArguments(text()) ?? rejectArguments(view) };
}

function rejectArguments(view: JsonView): never {
	return rejectField(view.path, 'must be a JSON object as a string');
}
