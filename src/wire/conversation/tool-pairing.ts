import type { Capability, ContentPart, ResultsTurn, ToolCall, ToolResult } from './conversation.ts';
import { isBlank, type Place, rejectField } from './json-view.ts';

/** How a client's dialect tells what is wrong, to follow the path. */
export interface PairingWords {
	/** A result of no call that waits for one. */
	readonly unasked: string;
	readonly repeatedResult: string;
	/** A call without a result. */
	readonly unanswered: string;
	readonly repeatedCall: string;
	/** The part of a call's path that says what lacks a result. */
	readonly unansweredMember: '' | '.id';
}

/** Joins each call of the assistant with its result: every call has exactly one, before the next turn but instructions. */
export class ToolPairing {
	readonly #words: PairingWords;
	/** By id, in their order. */
	readonly #calls = new Map<string, ToolCall>();
	readonly #results = new Map<string, ToolResult>();

	constructor(words: PairingWords) {
		this.#words = words;
	}

	/** @throws Refusal `field_invalid` for two open calls of one id. */
	open(call: ToolCall): void {
		if (this.#calls.has(call.id)) rejectField(`${call.at.path}.id`, this.#words.repeatedCall);
		this.#calls.set(call.id, call);
	}

	get isAwaitingResults(): boolean {
		return this.#calls.size > this.#results.size;
	}

	/** The call that a result names. @throws Refusal `field_invalid` for none, or one that has a result. */
	callOf(id: string, at: Place): ToolCall {
		const call = this.#calls.get(id);
		if (call === undefined) return rejectField(at.path, this.#words.unasked);
		return this.#results.has(id) ? rejectField(at.path, this.#words.repeatedResult) : call;
	}

	answer(result: ToolResult): void {
		this.#results.set(result.call.id, result);
	}

	/** The id of the last open call when it is of that name, for results that name no id. */
	lastCallOf(name: unknown): string | undefined {
		const last = [...this.#calls.values()].at(-1);
		return last?.name === name ? last?.id : undefined;
	}

	/** As `close`, but calls stay open until each has its result where instructions may come before. @throws Refusal `field_invalid`. */
	closeForInstructions(takes: ReadonlySet<Capability>): ResultsTurn | undefined {
		return this.isAwaitingResults && takes.has('instructionsAnywhere') ? undefined : this.close();
	}

	/** The results of all open calls; undefined where there is none. @throws Refusal `field_invalid` for a call without. */
	close(): ResultsTurn | undefined {
		if (this.#calls.size === 0) return undefined;
		for (const { id, at } of this.#calls.values()) {
			if (!this.#results.has(id)) rejectField(`${at.path}${this.#words.unansweredMember}`, this.#words.unanswered);
		}
		const turn: ResultsTurn = { role: 'results', results: [...this.#results.values()], calls: [...this.#calls.values()] };
		this.#calls.clear();
		this.#results.clear();
		return turn;
	}
}

/** The results in the order of their calls, as some providers demand. */
export function inOrderOfCalls({ results, calls }: ResultsTurn): readonly ToolResult[] {
	if (calls.length === 1) return results;
	const byCall = new Map(results.map((result) => [result.call, result]));
	return calls.flatMap((call) => byCall.get(call) ?? []);
}

/** The content of a result as parts; a text that shows nothing is none. */
export function resultParts({ at, content }: ToolResult): readonly ContentPart[] {
	if (typeof content !== 'string') return content;
	return isBlank(content) ? [] : [{ type: 'text', at, text: content }];
}
