import type { FormatName } from '../../core/format-name.ts';

/** `openai-compatible` is `openai` for servers of others, which may need no key. */
export type ProviderKind = 'anthropic' | 'openai' | 'openai-compatible' | 'azure-openai' | 'gemini';

/** How providers of one kind are addressed and authenticated, and what they may see. Knows no policy. */
export interface Protocol {
	/** The format it speaks; null: none that callers speak. */
	readonly format: FormatName | null;
	/**
	 * Path with query of the inference address.
	 * @param query the caller's, without `?`; empty for none.
	 * @throws Refusal `field_invalid` when no model of this provider can have that name.
	 */
	locate(place: ProviderPlace, model: string, query: string): string;
	authenticate(apiKey: string): Readonly<Record<string, string>>;
	/** Sent unless the caller sends them and they are forwarded. */
	readonly defaultHeaders: Readonly<Record<string, string>>;
	/** The caller's header fields that it may see, beside the common ones. A later entry with the same `to` wins. */
	readonly forwards: readonly ForwardedHeader[];
	/** Codes in the body of a 429 that mean spent money, not haste: a retry cannot help. */
	readonly spendStops: readonly string[];
}

export interface ForwardedHeader {
	readonly from: string;
	readonly to: string;
}

/** Where a configured provider lies, beside its origin. */
export interface ProviderPlace {
	/** Path of the base address without a final slash; empty for none. */
	readonly pathPrefix: string;
	/** Of Azure's classic addresses; null: the newer ones, which have none. */
	readonly apiVersion: string | null;
}

export function withQuery(path: string, query: string): string {
	return query === '' ? path : `${path}?${query}`;
}
