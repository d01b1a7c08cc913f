import { signatureOf } from '../../conversation/extensions.ts';
import { parseArguments } from '../../conversation/read-json.ts';
import { type ResponseSink, responseInvalid } from '../../conversation/response.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';

interface StreamedCall {
	readonly id: unknown;
	readonly signature: string | undefined;
	name: string;
	/** All arguments so far. */
	input: string;
	/** Number of characters of `input` that were written. */
	writtenLength: number;
	/** Length of `input` at the last check, and its result. */
	checkedLength: number;
	isWhole: boolean;
	state: 'waiting' | 'open' | 'closed';
}

/**
 * Assembles the tool calls of a stream from fragments, however they are labelled, and writes them one after the other. One call is open at
 * a time; fragments of later calls wait until the open one is complete.
 */
export class SequentialCalls {
	readonly #sink: ResponseSink;
	readonly #choice: number;
	readonly #calls: StreamedCall[] = [];
	readonly #byIndex = new Map<number, StreamedCall>();
	#open: StreamedCall | undefined;

	constructor(sink: ResponseSink, choice: number) {
		this.#sink = sink;
		this.#choice = choice;
	}

	get hasWritten(): boolean {
		return this.#calls.some(({ state }) => state !== 'waiting');
	}

	/**
	 * @param fragments the `tool_calls` of one delta.
	 * @throws `UpstreamError` `provider_response_invalid` for a fragment of a call that can no longer be written.
	 */
	add(fragments: readonly unknown[]): void {
		for (const [at, fragment] of fragments.entries()) {
			if (!isJsonObject(fragment)) continue;
			const called = isJsonObject(fragment.function) ? fragment.function : {};
			const call = this.#find(fragment, called, fragments.length > 1 ? at : undefined);
			if (call.name === '' && typeof called.name === 'string') call.name = called.name;
			this.#addInput(call, textOf(called.arguments));
		}
	}

	/** Writes the waiting fragments, because other content or the end follows. */
	flush(): void {
		for (const call of this.#calls) if (call.state === 'waiting' && call.name + call.input !== '') this.#start(call);
		if (this.#open !== undefined) this.#open.state = 'closed';
		this.#open = undefined;
	}

	/** @throws `UpstreamError` `provider_response_invalid` for a call whose arguments are not a JSON object. */
	requireComplete(): void {
		for (const { input } of this.#calls) if (parseArguments(input) === undefined) throw argumentsInvalid();
	}

	/** Finds a call by `index`; without one by id, otherwise by order. A known index with a new id and a name is a new call. */
	#find(fragment: JsonObject, { name }: JsonObject, order: number | undefined): StreamedCall {
		const { index, id } = fragment;
		const isNamed = typeof name === 'string' && name !== '';
		const hasId = typeof id === 'string' && id !== '';
		if (Number.isInteger(index)) {
			const known = this.#byIndex.get(Number(index));
			if (known !== undefined && !(hasId && isNamed && known.id !== id)) return known;
			const call = this.#create(fragment);
			this.#byIndex.set(Number(index), call);
			return call;
		}
		const sameId = hasId ? this.#calls.findLast((call) => call.id === id) : undefined;
		if (sameId !== undefined) return sameId;
		if (isNamed) return this.#create(fragment);
		return (order === undefined ? this.#calls.at(-1) : this.#calls[order]) ?? this.#create(fragment);
	}

	#create(fragment: JsonObject): StreamedCall {
		const call: StreamedCall = {
			id: fragment.id,
			signature: signatureOf(fragment),
			name: '',
			input: '',
			writtenLength: 0,
			checkedLength: 0,
			isWhole: false,
			state: 'waiting',
		};
		this.#calls.push(call);
		return call;
	}

	#addInput(call: StreamedCall, text: string): void {
		if (call.state === 'closed') {
			// Some servers repeat all arguments at the end.
			if (text.trim() !== '' && !isWhole(call)) throw argumentsInvalid();
			return;
		}
		call.input += text;
		if (call === this.#open) this.#writeInput(call);
		else if (call.name !== '' && (this.#open === undefined || isWhole(this.#open)) && this.#isNext(call)) this.#start(call);
	}

	#isNext(call: StreamedCall): boolean {
		return this.#calls.find(({ state }) => state === 'waiting') === call;
	}

	#start(call: StreamedCall): void {
		if (call.name === '') throw responseInvalid('with a tool call without a name');
		if (this.#open !== undefined) this.#open.state = 'closed';
		this.#open = call;
		call.state = 'open';
		this.#sink.startCall({ id: call.id, name: call.name, signature: call.signature }, this.#choice);
		this.#writeInput(call);
	}

	#writeInput(call: StreamedCall): void {
		if (call.input.length === call.writtenLength) return;
		this.#sink.addArguments(call.input.slice(call.writtenLength), this.#choice);
		call.writtenLength = call.input.length;
	}
}

/** Empty arguments are incomplete. Checked once for each length, because a later call may trigger a check with each fragment. */
function isWhole(call: StreamedCall): boolean {
	if (call.checkedLength !== call.input.length) {
		call.checkedLength = call.input.length;
		call.isWhole = parseArguments(call.input) !== undefined;
	}
	return call.isWhole;
}

function argumentsInvalid(): Error {
	return responseInvalid('with tool call arguments that are not a JSON object');
}

/** Some servers send the arguments as an object. */
function textOf(given: unknown): string {
	if (typeof given === 'string') return given;
	return isJsonObject(given) ? JSON.stringify(given) : '';
}
