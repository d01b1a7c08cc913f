import { Fault } from '../../../core/fault.ts';
import type { ResponseSink } from '../../conversation/response.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { PartialCall } from './partial-call.ts';

/** Reads the parts of one candidate, from a non-streaming response or from the pieces of a stream. */
export class CandidateReader {
	hasParts = false;
	hasCalls = false;
	finishReason: unknown;
	/** A call whose arguments come in pieces. */
	#partial: PartialCall | undefined;
	readonly #sink: ResponseSink;
	readonly #choice: number;

	constructor(sink: ResponseSink, choice: number) {
		this.#sink = sink;
		this.#choice = choice;
	}

	/** @throws Fault `provider_answer_invalid`. */
	read(candidate: JsonObject): void {
		const parts = isJsonObject(candidate.content) ? candidate.content.parts : undefined;
		for (const part of Array.isArray(parts) ? (parts as readonly unknown[]) : []) if (isJsonObject(part)) this.#readPart(part);
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

	#readCall(told: JsonObject, signature: string | undefined): void {
		const { name, args, id, partialArgs, willContinue } = told;
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

export function responseInvalid(what: string): Fault {
	return new Fault('provider_answer_invalid', { message: `The provider answered ${what}: retry` });
}
