import type { JsonObject } from '../../json/parse-body.ts';
import type { TranslatedCall } from '../translation.ts';
import { speaksOfFunctions } from './chat-tools.ts';
import { wantsUsage } from './render-usage.ts';

export interface ChunkedCall {
	/** Counted over the calls of its choice, for the callers' libraries take an index for a place in their list. */
	readonly index: number;
	readonly id: string;
	readonly name: string;
	/** What is told beside, such as `extra_content`. */
	readonly more?: JsonObject;
}

/** Writes the chunks of one chat completion, in the shape that its caller asked for. */
export class ChatChunks {
	readonly isLegacy: boolean;
	readonly #call: TranslatedCall;
	readonly #wantsUsage: boolean;
	#text = '';
	/** What all chunks begin with; empty until the answer has started. */
	#head = '';
	#tail = '';

	constructor(call: TranslatedCall) {
		this.#call = call;
		this.#wantsUsage = wantsUsage(call);
		this.isLegacy = speaksOfFunctions(call.request);
	}

	get hasStarted(): boolean {
		return this.#head !== '';
	}

	/** What was written since the last time. */
	take(): string {
		const text = this.#text;
		this.#text = '';
		return text;
	}

	start(id: string, model: unknown): void {
		const members = JSON.stringify({
			id,
			object: 'chat.completion.chunk',
			created: this.#call.nowSeconds,
			model: typeof model === 'string' ? model : this.#call.model,
		});
		this.#head = `data: ${members.slice(0, -1)},"choices":[`;
		this.#tail = `]${this.#wantsUsage ? ',"usage":null' : ''}}\n\n`;
	}

	/** @param hasText whether text comes first: what never has any ends with the content null, as a whole answer does. */
	startChoice(choice = 0, hasText = true): void {
		this.add(`{"role":"assistant","content":${hasText ? '""' : 'null'},"refusal":null}`, choice);
	}

	/** @param delta in JSON. @param reason in JSON. */
	add(delta: string, choice = 0, reason = 'null'): void {
		this.#text += `${this.#head}{"index":${choice},"delta":${delta},"logprobs":null,"finish_reason":${reason}}${this.#tail}`;
	}

	addText(text: string, choice = 0): void {
		this.add(`{"content":${JSON.stringify(text)}}`, choice);
	}

	addReasoning(text: string, choice = 0): void {
		this.add(`{"reasoning_content":${JSON.stringify(text)}}`, choice);
	}

	/** Where the caller expects the old shape, which has room for one call, others are left out. */
	startCall({ index, id, name, more }: ChunkedCall, choice = 0): void {
		const called = { name, arguments: '' };
		if (!this.isLegacy) this.add(`{"tool_calls":[${JSON.stringify({ index, id, type: 'function', function: called, ...more })}]}`, choice);
		else if (index === 0) this.add(`{"function_call":${JSON.stringify(called)}}`, choice);
	}

	addArguments(index: number, fragment: string, choice = 0): void {
		const text = JSON.stringify(fragment);
		if (!this.isLegacy) this.add(`{"tool_calls":[{"index":${index},"function":{"arguments":${text}}}]}`, choice);
		else if (index === 0) this.add(`{"function_call":{"arguments":${text}}}`, choice);
	}

	/** @param usage undefined when nothing is known of it; left out unless the caller asked. */
	end(usage: JsonObject | undefined): void {
		if (this.#wantsUsage && usage !== undefined) this.#text += `${this.#head}],"usage":${JSON.stringify(usage)}}\n\n`;
		this.#text += 'data: [DONE]\n\n';
	}

	fail(error: JsonObject): void {
		this.#text += `data: ${JSON.stringify({ error, request_id: this.#call.requestId })}\n\n`;
	}
}
