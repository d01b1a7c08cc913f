import type { ClientDialectName } from '../../core/dialect-name.ts';
import type { JsonObject } from '../json/parse-body.ts';
import type { Capability, Conversation } from './conversation.ts';
import type { JsonView } from './json-view.ts';
import type { ModelFacts } from './model-facts.ts';

/** A model, with what operators say of it. */
export interface TranslationTarget extends ModelFacts {
	/** The model's name at the provider. */
	readonly model: string;
	/** The most that the model can write, whoever says so; undefined when nothing is known. */
	readonly maxOutputTokens: number | undefined;
}

export interface TranslatedRequest {
	readonly body: JsonObject;
	/** Fields that the request is sent with, in place of the client's. */
	readonly headers?: Readonly<Record<string, string>>;
	/** What was dropped or changed, a sentence each, such as `logit_bias: ignored`. */
	readonly warnings: readonly string[];
	/** What was changed so that the other dialect says the same: reported, and faithful all the same. */
	readonly notes?: readonly string[];
}

/**
 * Reads requests of one dialect of clients. Settings that no provider with these capabilities has are judged at once.
 * @throws Refusal `field_invalid` with the JSON path in `param`.
 */
export type RequestReader = (body: JsonView, takes: ReadonlySet<Capability>, warnings: RequestWarnings) => Conversation;

/** Writes requests of one dialect of providers. */
export interface RequestWriter {
	/** What readers need not judge. */
	readonly takes: ReadonlySet<Capability>;
	/** @throws Refusal `field_invalid` for what has no equivalent and must not be guessed. */
	write(conversation: Conversation, target: TranslationTarget, warnings: RequestWarnings): Pick<TranslatedRequest, 'body' | 'headers'>;
	/** Where the dialect is another one with deviations: its requests are adapted, and keep what nobody here knows. */
	readonly variant?: {
		readonly of: ClientDialectName;
		/** @throws Refusal `field_invalid`. */
		adapt(request: JsonObject, target: TranslationTarget, warnings: RequestWarnings): JsonObject;
	};
}

/** A name that may stand in a header; others are a client's mistake or malice. */
const plainName = /^[\w.[\]-]{1,64}$/;

/** Enough to find a mistake by; a header has an end. */
const maxWarnings = 24;

/** What was dropped or changed in a request, each reported once. */
export class RequestWarnings {
	readonly #sentences: string[] = [];
	readonly #notes: string[] = [];

	/** @param what ASCII and of our own words, for it goes into a header. */
	add(field: string, what: string): void {
		addTo(this.#sentences, field, what);
	}

	/** What was changed so that the other dialect says the same. As `add`. */
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
