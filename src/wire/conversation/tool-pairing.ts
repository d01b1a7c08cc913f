import type { Capability, ContentPart, ResultsTurn, ToolCall, ToolResult } from './conversation.ts';
import { isBlank, type Place, rejectField } from './json-view.ts';

/** Messages of a client's dialect, appended to the path. */
export interface PairingWords {
	/** For a result without an open call. */
	readonly unsupported: string;
	readonly repeatedResult: string;
	/** For a call without a result. */
	readonly pendingCalls: string;
	readonly repeatedCall: string;
	/** Suffix of a call's path for a missing result. */
	readonly unsupportedMember: '' | '.id';
}

/** Pairs each tool call of the assistant with its result: every call has exactly one, before the next turn other than instructions. */
export class ToolPairing {
	readonly #words: PairingWords;
	readonly #byId = new Map<string, { readonly call: ToolCall; hasResult: boolean }>();
	#calls: ToolCall[] = [];
	#results: ToolResult[] = [];

	constructor(words: PairingWords) {
		this.#words = words;
	}

	/** @throws `Rejection` `field_invalid` for two open calls with one id. */
	open(call: ToolCall): void {
		if (this.#byId.has(call.id)) rejectField(`${call.at.path}.id`, this.#words.repeatedCall);
		this.#byId.set(call.id, { call, hasResult: false });
		this.#calls.push(call);
	}

	get isAwaitingResults(): boolean {
		return this.#calls.length > this.#results.length;
	}

	/** Returns the call that a result names. @throws `Rejection` `field_invalid` if there is none, or it already has a result. */
	callOf(id: string, at: Place): ToolCall {
		const open = this.#byId.get(id);
		if (open === undefined) return rejectField(at.path, this.#words.unsupported);
		return open.hasResult ? rejectField(at.path, this.#words.repeatedResult) : open.call;
	}

	response(result: ToolResult): void {
		const open = this.#byId.get(result.call.id);
		if (open !== undefined) open.hasResult = true;
		this.#results.push(result);
	}

	/** Returns the id of the last open call if it has this name, for results without an id. */
	lastCallOf(name: unknown): string | undefined {
		const last = this.#calls.at(-1);
		return last?.name === name ? last?.id : undefined;
	}

	/**
	 * Closes like `close`. If instructions may come before results, calls stay open until each has one. @throws `Rejection` `field_invalid`.
	 */
	closeForInstructions(takes: ReadonlySet<Capability>): ResultsTurn | undefined {
		return this.isAwaitingResults && takes.has('instructionsAnywhere') ? undefined : this.close();
	}

	/** Returns the results of all open calls; undefined if there are none. @throws `Rejection` `field_invalid` for a call without a result. */
	close(): ResultsTurn | undefined {
		if (this.#calls.length === 0) return undefined;
		for (const { call, hasResult } of this.isAwaitingResults ? this.#byId.values() : []) {
			if (!hasResult) rejectField(`${call.at.path}${this.#words.unsupportedMember}`, this.#words.pendingCalls);
		}
		const turn: ResultsTurn = { role: 'results', results: this.#results, calls: this.#calls };
		this.#byId.clear();
		this.#calls = [];
		this.#results = [];
		return turn;
	}
}

/** Returns the results in the order of their calls, as some providers require. */
export function inOrderOfCalls({ results, calls }: ResultsTurn): readonly ToolResult[] {
	if (calls.length === 1) return results;
	const byCall = new Map(results.map((result) => [result.call, result]));
	return calls.flatMap((call) => byCall.get(call) ?? []);
}

/** Returns the content of a result as parts; a text without visible characters has none. */
export function resultParts({ at, content }: ToolResult): readonly ContentPart[] {
	if (typeof content !== 'string') return content;
	return isBlank(content) ? [] : [{ type: 'text', at, text: content }];
}
