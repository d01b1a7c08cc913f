import { geminiToolName } from '../../dialects/gemini/tool-names.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { refuseField } from '../refuse-field.ts';
import type { RequestWarnings } from '../request-warnings.ts';
import { noSignature } from '../thought-signature.ts';
import type { GeminiModel } from './gemini-model.ts';
import { warnUnsigned } from './mark-unsigned.ts';

export interface CalledTool {
	readonly id: string;
	readonly name: string;
	readonly input: JsonObject;
	readonly signature: string | undefined;
	/** Where the caller made it. */
	readonly path: string;
}

export interface ToolResult {
	readonly response: JsonObject;
	/** Images and documents, which follow in a turn of the user's. */
	readonly attachments: readonly JsonObject[];
}

interface Content {
	readonly role: 'user' | 'model';
	readonly parts: JsonObject[];
}

/** Turns as Gemini takes them: neighbours of one role joined, and all calls of a turn answered in the very next one. */
export class Contents {
	/** Parts of the system instruction. */
	readonly instructions: JsonObject[] = [];
	readonly #contents: Content[] = [];
	/** By id, in their order. */
	#calls = new Map<string, CalledTool>();
	readonly #results = new Map<string, ToolResult>();
	/** Nothing joins results, whose number must be that of the calls. */
	#isLastClosed = false;

	/** No turn yet. */
	get isFresh(): boolean {
		return this.#contents.length === 0 && this.#calls.size === 0;
	}

	/** @throws Refusal `field_invalid` for calls that were not answered. */
	addUser(parts: readonly JsonObject[]): void {
		this.#closeCalls();
		this.#add('user', parts);
	}

	/** @throws Refusal `field_invalid` for calls that were not answered. */
	addModel(parts: readonly JsonObject[], calls: readonly CalledTool[]): void {
		this.#closeCalls();
		this.#add('model', [...parts, ...calls.map(callPart)]);
		for (const call of calls) this.#calls.set(call.id, call);
	}

	/** @throws Refusal `field_invalid` for a result that belongs to no call of the turn before. */
	addResult(id: string, result: ToolResult, path: string): void {
		if (!this.#calls.has(id)) {
			refuseField(path, 'names no tool call of the assistant message before it: send each result right after its call');
		}
		if (this.#results.has(id)) refuseField(path, 'names a tool call that has a result already: send one result for each call');
		this.#results.set(id, result);
	}

	/** The id of the last call when it is of that name, for results that name no id. */
	lastCallOf(name: unknown): string | undefined {
		const last = [...this.#calls.values()].at(-1);
		return last?.name === name ? last?.id : undefined;
	}

	/** @throws Refusal `field_invalid` for what is left open. */
	finish(model: GeminiModel, warnings: RequestWarnings): readonly Content[] {
		this.#closeCalls();
		if (!this.#contents.some(({ role }) => role === 'user')) refuseField('messages', 'must hold a user message with content');
		if (this.#contents.at(-1)?.role === 'model') warnings.add('messages', 'the last one may be answered and not continued');
		if (!model.needsSignatures) return this.#contents;
		for (const { parts } of this.#contents) {
			// Of parallel calls only the first has one.
			const first = parts.findIndex((part) => part.functionCall !== undefined);
			const part = parts[first];
			if (part === undefined || part.thoughtSignature !== undefined) continue;
			parts[first] = { ...part, thoughtSignature: noSignature };
			warnUnsigned(warnings);
		}
		return this.#contents;
	}

	#add(role: Content['role'], parts: readonly JsonObject[]): void {
		const last = this.#contents.at(-1);
		if (last?.role === role && !this.#isLastClosed) for (const part of parts) last.parts.push(part);
		else this.#contents.push({ role, parts: [...parts] });
		this.#isLastClosed = false;
	}

	/** One turn with all results, in the order of the calls, and one with what came with them. */
	#closeCalls(): void {
		if (this.#calls.size === 0) return;
		const attachments: JsonObject[] = [];
		const parts = [...this.#calls.values()].map(({ id, name, path }) => {
			const result = this.#results.get(id);
			if (result === undefined) return refuseField(path, 'has no result: send the result of each call right after its message');
			if (result.attachments.length > 0) attachments.push({ text: `Result of call ${id}:` }, ...result.attachments);
			return { functionResponse: { id, name: geminiToolName(name), response: result.response } };
		});
		this.#calls = new Map();
		this.#results.clear();
		this.#contents.push({ role: 'user', parts });
		this.#isLastClosed = true;
		if (attachments.length > 0) this.#add('user', attachments);
	}
}

function callPart({ id, name, input, signature }: CalledTool): JsonObject {
	return {
		functionCall: { id, name: geminiToolName(name), args: input },
		...(signature !== undefined && { thoughtSignature: signature }),
	};
}
