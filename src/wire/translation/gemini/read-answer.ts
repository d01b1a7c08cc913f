import { Fault } from '../../../core/fault.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { PartialCall } from './partial-call.ts';

export interface ToldCall {
	/** Often absent. */
	readonly id: unknown;
	readonly name: string;
	readonly args: JsonObject;
	readonly signature: string | undefined;
}

/** Takes what a candidate says, in its order. */
export interface CandidateSink {
	addText(text: string): void;
	addThinking(text: string): void;
	addCall(call: ToldCall): void;
	/** Of what was said last, where that was no call. */
	addSignature(signature: string): void;
}

/** Reads the parts of one candidate, from a whole answer or from the pieces of a stream. */
export class CandidateReader {
	hasParts = false;
	hasCalls = false;
	finishReason: unknown;
	/** A call whose arguments come in pieces. */
	#partial: PartialCall | undefined;
	readonly #sink: CandidateSink;

	constructor(sink: CandidateSink) {
		this.#sink = sink;
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
			if (thought === true) this.#sink.addThinking(text);
			else this.#sink.addText(text);
		}
		if (signature !== undefined) this.#sink.addSignature(signature);
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
		if (typeof name !== 'string' || name === '') throw answerInvalid('with a tool call without a name');
		this.hasCalls = true;
		this.#sink.addCall({ id, name, args: isJsonObject(args) ? args : {}, signature });
	}
}

export function answerInvalid(what: string): Fault {
	return new Fault('provider_answer_invalid', { message: `The provider answered ${what}: retry` });
}
