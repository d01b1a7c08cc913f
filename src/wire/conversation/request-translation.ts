import type { JsonObject } from '../json/parse-body.ts';
import type { Capability, Conversation } from './conversation.ts';
import type { JsonView } from './json-view.ts';
import type { ModelCapabilities } from './model-capabilities.ts';
import type { ReasoningEncryption } from './reasoning-encryption.ts';

/** A model, with the facts that operators configure. */
export interface TranslationTarget extends ModelCapabilities {
	readonly model: string;
	/** Maximum number of output tokens, configured or known by name; undefined if unknown. */
	readonly maxOutputTokens: number | undefined;
	/** Decrypts reasoning that was encrypted in earlier responses of the provider. Nothing can be decrypted by default. */
	readonly encryption?: ReasoningEncryption;
}

export interface TranslatedRequest {
	readonly body: JsonObject;
	/** Header fields that replace the client's. */
	readonly headers?: Readonly<Record<string, string>>;
	/** One sentence for each dropped or changed field, such as `logit_bias: ignored`. */
	readonly warnings: readonly string[];
	/** Changes that keep the meaning in the other dialect: reported with the warnings, but allowed by a strict translation. */
	readonly notes?: readonly string[];
}

/**
 * Reads requests of one client dialect. Settings that no provider with these capabilities supports are judged at once.
 * @throws `Rejection` `field_invalid` with the JSON path in `param`.
 */
export type RequestReader = (
	body: JsonView,
	takes: ReadonlySet<Capability>,
	warnings: RequestWarnings,
	/** Decrypts reasoning that this gateway encrypted for the target's provider. */
	encryption: ReasoningEncryption,
) => Conversation;

/** Writes requests of one provider dialect. */
export interface RequestWriter {
	/** Capabilities of the dialect, which readers need not judge. */
	readonly takes: ReadonlySet<Capability>;
	/** @throws `Rejection` `field_invalid` for a value without an equivalent that must not be guessed. */
	write(conversation: Conversation, target: TranslationTarget, warnings: RequestWarnings): Pick<TranslatedRequest, 'body' | 'headers'>;
}

/** Adapts requests of a dialect to a variant of it; unknown fields are kept. */
export interface RequestVariant {
	/** @throws `Rejection` `field_invalid`. */
	adapt(request: JsonObject, target: TranslationTarget, warnings: RequestWarnings): JsonObject;
}

/** Field names that are safe in a header; others are a client's mistake or an attack. */
const plainName = /^[\w.[\]-]{1,64}$/;

/** Enough to find a mistake; the size of a header is limited. */
const maxWarnings = 24;

/** Dropped or changed fields of a request, each reported once. */
export class RequestWarnings {
	readonly #sentences: string[] = [];
	readonly #notes: string[] = [];

	/** Adds a warning: ASCII text in the words of the gateway, because it goes into a header. */
	add(field: string, what: string): void {
		addTo(this.#sentences, field, what);
	}

	/** Adds a change that keeps the meaning in the other dialect. Same rules as `add`. */
	note(field: string, what: string): void {
		addTo(this.#notes, field, what);
	}

	list(): readonly string[] {
		return this.#sentences;
	}

	notes(): readonly string[] {
		return this.#notes;
	}
}

function addTo(sentences: string[], field: string, what: string): void {
	if (sentences.length >= maxWarnings) return;
	const sentence = `${plainName.test(field) ? field : 'a field with an unusual name'}: ${what}`;
	if (!sentences.includes(sentence)) sentences.push(sentence);
}
