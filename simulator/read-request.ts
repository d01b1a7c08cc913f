/**
 * Parses a request's bytes into the input of planning. Also runs in the worker thread for large bodies, so all types here can be sent
 * between threads.
 */
import { createHash } from 'node:crypto';
import type { HeaderFields } from '../src/core/handler.ts';
import { isObject, type JsonObject, textOf } from './json-value.ts';
import type { EmbeddingInput } from './plan/embed-text.ts';
import type { PlannedPrompt } from './plan/prompt.ts';
import { digestPrompt, outlineOf, type PromptDigest, planOf } from './plan/prompt-digest.ts';
import { storageOf } from './stored-responses.ts';
import { hasThread } from './threads.ts';
import { VendorError, type VendorErrorFields } from './vendor-error.ts';
import type { Wire, WireTarget } from './wires/wire.ts';

/** `WireTarget` with its query as text. */
export interface SentTarget extends Omit<WireTarget, 'query'> {
	readonly headers: HeaderFields;
	readonly query: string;
}

export interface ReadRequest {
	readonly sha256: string;
	/** Model name; empty when neither the path nor the body has one. */
	readonly model: string;
	/** Outline of the body; undefined when it is not a JSON object. */
	readonly outline: JsonObject | undefined;
	readonly reading: PromptReading | undefined;
	/** Whole request that continues a stored conversation; the rest of the request was not parsed then. */
	readonly threaded?: JsonObject;
	/** Whole request that refers to stored responses, or is to be stored. It has to be parsed again if it refers to some. */
	readonly stored?: JsonObject;
}

/** Parsed prompt, or the vendor's rejection. */
export type PromptReading =
	| { readonly plan: PlannedPrompt; readonly digest: PromptDigest }
	| { readonly embedded: EmbeddingInput }
	| { readonly rejection: VendorErrorFields };

export function readRequest(bytes: Uint8Array, wire: Wire, target: WireTarget): ReadRequest {
	const sha256 = createHash('sha256').update(bytes).digest('hex');
	const body = parseBody(bytes);
	const model = target.model ?? textOf(body?.['model']);
	if (body === undefined) return { sha256, model, outline: undefined, reading: undefined };
	if (wire.name === 'anthropic' && hasThread(body)) return { sha256, model, outline: outlineOf(body), reading: undefined, threaded: body };
	if (!usesResponses(wire, target)) return { sha256, model, outline: outlineOf(body), reading: readPrompt(body, model, wire, target) };
	const outline = outlineOf(body, echoedFields);
	const storage = storageOf(body, target.action);
	if (storage === 'refers') return { sha256, model, outline, reading: undefined, stored: body };
	const reading = readPrompt(body, model, wire, target);
	return { sha256, model, outline, reading, ...(storage === 'stores' ? { stored: body } : {}) };
}

export function readPrompt(body: JsonObject, model: string, wire: Wire, target: WireTarget): PromptReading {
	try {
		if (target.action === 'embeddings' || target.action === 'batch-embeddings') {
			if (wire.embeddings === undefined) throw new VendorError('path-unknown', target.action);
			return { embedded: wire.embeddings.readEmbeddings(body, model, target) };
		}
		const prompt = wire.readPrompt(body, model, target);
		return { plan: planOf(prompt), digest: digestPrompt(prompt.segments) };
	} catch (cause) {
		if (cause instanceof VendorError) return { rejection: cause.fields() };
		throw cause;
	}
}

/** Fields of a Responses request that the response repeats, whatever their size. */
const echoedFields = ['instructions', 'tools', 'tool_choice', 'text', 'metadata'];

function usesResponses({ name }: Wire, { action }: WireTarget): boolean {
	return (name === 'openai' || name === 'azure') && (action === 'responses' || action === 'compact' || action === 'count');
}

function parseBody(bytes: Uint8Array): JsonObject | undefined {
	try {
		const parsed: unknown = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
		return isObject(parsed) ? parsed : undefined;
	} catch {
		return undefined;
	}
}
