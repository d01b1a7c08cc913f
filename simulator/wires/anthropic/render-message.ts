/** Renders responses in the messages format, non-streaming and streaming, with the vendor's field order. */
import type { JsonObject } from '../../json-value.ts';
import type { PlannedCall, PlannedChoice, Usage } from '../../plan/response-plan.ts';
import { type ResponsePart, stepsOf } from '../../plan/response-steps.ts';
import type { WireEvent, WireResponse } from '../wire.ts';
import type { ThinkingOptions } from './read-message.ts';
import { signThinking } from './sign-thinking.ts';

export interface MessageOptions {
	readonly snapshot: string;
	readonly thinking: ThinkingOptions;
}

export function renderMessage(response: WireResponse, options: MessageOptions): JsonObject {
	const { plan, random, quirks } = response;
	const content = renderMessageContent(response, options);
	return {
		model: options.snapshot,
		id: `msg_01${random.letters(22)}`,
		type: 'message',
		role: 'assistant',
		content,
		...renderStop(plan.choices[0]),
		...(quirks.omitsUsage ? {} : { usage: renderUsage(plan.usage, plan.usage.output, options.thinking.isOn) }),
	};
}

export function renderMessageContent({ plan, random, quirks }: WireResponse, options: MessageOptions): JsonObject[] {
	const [choice] = plan.choices;
	const content: JsonObject[] = [];
	if (plan.thinking !== '') {
		const thinking = options.thinking.isHidden ? '' : plan.thinking;
		content.push({ type: 'thinking', thinking, signature: signThinking(thinking, random.letters(16)) });
	}
	if (choice !== undefined && choice.text !== '') content.push({ type: 'text', text: choice.text });
	for (const call of choice?.calls ?? []) {
		content.push({ type: 'tool_use', id: toolUseId(call, quirks.emptiesIds), name: call.name, input: readInput(call) });
	}
	return content;
}

/** Renders the stop reason. The vendor's `refusal` has no content; its explanation is in `stop_details`. */
function renderStop(choice: PlannedChoice | undefined): JsonObject {
	const isModelRefusal = choice?.stop === 'refusal' || choice?.stop === 'filter';
	return {
		stop_reason: stopReasonOf(choice),
		stop_sequence: choice?.stopSequence ?? null,
		stop_details: isModelRefusal
			? { type: 'refusal', category: 'cyber', explanation: choice.refusal || 'This request triggered restrictions and was blocked.' }
			: null,
	};
}

function stopReasonOf(choice: PlannedChoice | undefined): string {
	switch (choice?.stop) {
		case 'length':
			return 'max_tokens';
		case 'stop_sequence':
			return 'stop_sequence';
		case 'calls':
			return 'tool_use';
		case 'refusal':
		case 'filter':
			return 'refusal';
		default:
			return 'end_turn';
	}
}

function toolUseId(call: PlannedCall, emptiesIds: boolean): string {
	return emptiesIds ? '' : `toolu_01${call.id.slice(0, 22)}`;
}

/** Parses the input. Truncated input does not parse, and gives an empty block. */
function readInput(call: PlannedCall): unknown {
	try {
		return JSON.parse(call.input);
	} catch {
		return {};
	}
}

export function renderUsage(usage: Usage, outputTokens: number, showsThinking: boolean): JsonObject {
	return {
		input_tokens: usage.input,
		cache_creation_input_tokens: usage.cacheWrite,
		cache_read_input_tokens: usage.cacheRead,
		cache_creation: { ephemeral_5m_input_tokens: usage.cacheWrite - usage.cacheWriteLong, ephemeral_1h_input_tokens: usage.cacheWriteLong },
		output_tokens: outputTokens,
		...(showsThinking ? { output_tokens_details: { thinking_tokens: Math.min(outputTokens, usage.reasoning) } } : {}),
		service_tier: 'standard',
		inference_geo: 'not_available',
	};
}

export function* streamMessage(response: WireResponse, options: MessageOptions): Generator<WireEvent> {
	const { plan, random, quirks } = response;
	const [choice] = plan.choices;
	const event = (type: string, rest: JsonObject, outputTokens = 0): WireEvent => {
		const padding = ' '.repeat(random.integer(0, 15));
		return { bytes: `event: ${type}\ndata: ${JSON.stringify({ type, ...rest }).slice(0, -1)}${padding}}\n\n`, outputTokens };
	};
	const start = event('message_start', {
		message: {
			model: options.snapshot,
			id: `msg_01${random.letters(22)}`,
			type: 'message',
			role: 'assistant',
			content: [],
			stop_reason: null,
			stop_sequence: null,
			stop_details: null,
			...(quirks.omitsUsage ? {} : { usage: renderUsage(plan.usage, 1, false) }),
		},
	});
	yield start;
	let block = -1;
	let deltas = 0;
	let carried = 0;
	let isPinged = false;
	let isFirst = true;
	const indexOf = (): JsonObject => (quirks.omitsIndex ? {} : { index: block });
	// The vendor's first delta is one token, later ones are several.
	const tokensPerPiece = (): number => {
		const tokens = quirks.tokensPerEvent ?? (isFirst ? 1 : random.integer(1, 6));
		isFirst = false;
		return tokens;
	};
	for (const step of stepsOf(plan, tokensPerPiece)) {
		carried += step.outputTokens;
		if (step.part.kind === 'refusal') continue;
		const isHidden = step.part.kind === 'thinking' && options.thinking.isHidden;
		if (step.phase === 'open') {
			block += 1;
			yield event('content_block_start', { ...indexOf(), content_block: openBlock(step.part, quirks.emptiesIds) }, carried);
			carried = 0;
			if (!isPinged) yield { bytes: 'event: ping\ndata: {"type": "ping"}\n\n', outputTokens: 0 };
			isPinged = true;
			if (step.part.kind === 'call') {
				yield event('content_block_delta', { ...indexOf(), delta: { type: 'input_json_delta', partial_json: '' } });
			}
		} else if (step.phase === 'piece') {
			// A tool call without arguments sends no fragment after its empty first one.
			if (isHidden || (step.part.kind === 'call' && step.part.call.input === '{}')) continue;
			yield event('content_block_delta', { ...indexOf(), delta: pieceDelta(step.part, step.text) }, carried);
			carried = 0;
			deltas += 1;
			if (quirks.repeatsStart && deltas === 2) yield start;
		} else {
			if (step.part.kind === 'thinking') {
				const shown = isHidden ? '' : plan.thinking;
				yield event(
					'content_block_delta',
					{ ...indexOf(), delta: { type: 'signature_delta', signature: signThinking(shown, random.letters(16)) } },
					carried,
				);
				carried = 0;
			}
			yield event('content_block_stop', indexOf(), carried);
			carried = 0;
		}
	}
	if (!isPinged) yield { bytes: 'event: ping\ndata: {"type": "ping"}\n\n', outputTokens: 0 };
	const { stop_reason, stop_sequence, stop_details } = renderStop(choice);
	const usage = quirks.omitsUsage ? {} : { usage: deltaUsage(plan.usage, options.thinking.isOn) };
	yield event('message_delta', { delta: { stop_reason, stop_sequence, stop_details }, ...usage }, carried);
	yield event('message_stop', {});
}

function deltaUsage(usage: Usage, showsThinking: boolean): JsonObject {
	return {
		input_tokens: usage.input,
		cache_creation_input_tokens: usage.cacheWrite,
		cache_read_input_tokens: usage.cacheRead,
		output_tokens: usage.output,
		...(showsThinking ? { output_tokens_details: { thinking_tokens: usage.reasoning } } : {}),
	};
}

function openBlock(part: ResponsePart, emptiesIds: boolean): JsonObject {
	if (part.kind === 'thinking') return { type: 'thinking', thinking: '', signature: '' };
	if (part.kind === 'call') return { type: 'tool_use', id: toolUseId(part.call, emptiesIds), name: part.call.name, input: {} };
	return { type: 'text', text: '' };
}

function pieceDelta(part: ResponsePart, text: string): JsonObject {
	if (part.kind === 'thinking') return { type: 'thinking_delta', thinking: text };
	return part.kind === 'call' ? { type: 'input_json_delta', partial_json: text } : { type: 'text_delta', text };
}
