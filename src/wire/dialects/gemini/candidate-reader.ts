import { type ResponseSink, responseInvalid } from '../../conversation/response.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';

/** Reads the parts of one candidate, from a non-streaming response or from the pieces of a stream. */
export class CandidateReader {
	hasParts = false;
	hasCalls = false;
	finishReason: unknown;
	/** A call whose arguments arrive in pieces. */
	#partial: PartialCall | undefined;
	readonly #sink: ResponseSink;
	readonly #choice: number;

	constructor(sink: ResponseSink, choice: number) {
		this.#sink = sink;
		this.#choice = choice;
	}

	/** @throws `UpstreamError` `provider_response_invalid`. */
	read(candidate: JsonObject): void {
		const parts = isJsonObject(candidate.content) ? candidate.content.parts : undefined;
		for (const part of Array.isArray(parts) ? (parts as readonly unknown[]) : []) if (isJsonObject(part)) this.#readPart(part);
		if (hasSources(candidate)) this.#sink.lose('citations');
		if (typeof candidate.finishReason === 'string') this.finishReason = candidate.finishReason;
		if (this.finishReason !== undefined) this.#closeCall();
	}

	#readPart(part: JsonObject): void {
		const { text, thought, functionCall, thoughtSignature } = part;
		const signature = typeof thoughtSignature === 'string' && thoughtSignature !== '' ? thoughtSignature : undefined;
		if (isJsonObject(functionCall)) {
			this.hasParts = true;
			this.#readCall(functionCall, signature);
			return;
		}
		if (typeof text === 'string' && text !== '') {
			this.hasParts = true;
			if (thought === true) this.#sink.addReasoning(text, this.#choice);
			else this.#sink.addText(text, this.#choice);
		}
		if (signature !== undefined) this.#sink.addSignature(signature, this.#choice);
	}

	#readCall(reported: JsonObject, signature: string | undefined): void {
		const { name, args, id, partialArgs, willContinue } = reported;
		const isPiece = this.#partial !== undefined && name === undefined;
		if (!isPiece) this.#closeCall();
		if (!isPiece && willContinue !== true && partialArgs === undefined) {
			this.#addCall({ id, name, args, signature });
			return;
		}
		this.#partial ??= new PartialCall(id, name, signature);
		this.#partial.add(args, partialArgs);
		if (willContinue !== true) this.#closeCall();
	}

	#closeCall(): void {
		const whole = this.#partial;
		this.#partial = undefined;
		if (whole !== undefined) this.#addCall({ id: whole.id, name: whole.name, args: whole.args, signature: whole.signature });
	}

	#addCall({ id, name, args, signature }: { id: unknown; name: unknown; args: unknown; signature: string | undefined }): void {
		if (typeof name !== 'string' || name === '') throw responseInvalid('with a tool call without a name');
		this.hasCalls = true;
		this.#sink.startCall({ id, name, signature }, this.#choice);
		this.#sink.addArguments(JSON.stringify(isJsonObject(args) ? args : {}), this.#choice);
	}
}

/** True for text with sources, whose ranges count bytes of single parts. No other format has them. */
function hasSources({ citationMetadata: cited, groundingMetadata: grounded }: JsonObject): boolean {
	const lists = [isJsonObject(cited) ? cited.citationSources : [], isJsonObject(grounded) ? grounded.groundingSupports : []];
	return lists.some((list) => Array.isArray(list) && list.length > 0);
}

type Container = Record<string, unknown> | unknown[];

/** Deeper or wider arguments belong to no tool. */
const maxIndex = 100_000;

/** A call whose arguments arrive in pieces, each with its JSON path: `$.rows[0].name`. */
export class PartialCall {
	readonly id: unknown;
	readonly name: unknown;
	readonly signature: string | undefined;
	args: JsonObject = {};

	constructor(id: unknown, name: unknown, signature: string | undefined) {
		this.id = id;
		this.name = name;
		this.signature = signature;
	}

	add(args: unknown, pieces: unknown): void {
		if (isJsonObject(args)) this.args = { ...this.args, ...args };
		for (const piece of Array.isArray(pieces) ? (pieces as readonly unknown[]) : []) {
			if (isJsonObject(piece) && typeof piece.jsonPath === 'string') {
				addPiece(this.args, stepsOf(piece.jsonPath), piece);
			}
		}
	}
}

function stepsOf(path: string): readonly (string | number)[] {
	return [...path.matchAll(/\.([^.[\]]+)|\[(\d+)\]|\['([^']*)'\]/g)].map(([, name, index, quoted]) =>
		index === undefined ? (name ?? quoted ?? '') : Math.min(Number(index), maxIndex),
	);
}

function addPiece(root: Container, steps: readonly (string | number)[], piece: JsonObject): void {
	let holder = root;
	for (const [at, step] of steps.entries()) {
		const next = steps[at + 1];
		if (next === undefined) {
			const earlier = read(holder, step);
			const { stringValue } = piece;
			// A string that continues arrives in pieces itself.
			write(
				holder,
				step,
				typeof stringValue === 'string' ? (typeof earlier === 'string' ? earlier + stringValue : stringValue) : valueOf(piece),
			);
			return;
		}
		const inner = read(holder, step);
		if (typeof inner === 'object' && inner !== null) {
			holder = inner as Container;
		} else {
			const made: Container = typeof next === 'number' ? [] : {};
			write(holder, step, made);
			holder = made;
		}
	}
}

function valueOf({ numberValue, boolValue }: JsonObject): unknown {
	return numberValue ?? boolValue ?? null;
}

function read(holder: Container, step: string | number): unknown {
	return Object.hasOwn(holder, step) ? (holder as Record<string | number, unknown>)[step] : undefined;
}

/** Defined, not assigned: a client's tool may have an argument `__proto__`. */
function write(holder: Container, step: string | number, value: unknown): void {
	Object.defineProperty(holder, step, { value, writable: true, enumerable: true, configurable: true });
}
