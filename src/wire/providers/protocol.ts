import type { DialectName } from '../../core/dialect-name.ts';

/** How providers of one kind are addressed and authenticated, and what they may see. Knows no policy. */
export interface Protocol {
	readonly wire: DialectName;
	/**
	 * Path with query of the inference address.
	 * @param query the caller's, without `?`; empty for none.
	 * @param isStreamed where the address says so, not the body.
	 * @throws Refusal `field_invalid` when no model of this provider can have that name.
	 */
	locate(place: ProviderPlace, model: string, query: string, isStreamed: boolean): string;
	/** Path of the address that counts tokens of requests in its own format; undefined: there is none. */
	readonly countPath?: string;
	authenticate(apiKey: string): Readonly<Record<string, string>>;
	/** Sent unless the caller sends them and they are forwarded. */
	readonly defaultHeaders: Readonly<Record<string, string>>;
	/** The caller's header fields that it may see, beside the common ones. A later entry with the same `to` wins. */
	readonly forwards: readonly ForwardedHeader[];
	/** Codes in the body of a 429 that mean spent money, not haste: a retry cannot help. */
	readonly spendStops: readonly string[];
	/** In the body of a 400 it means that our key is wrong, not the caller's request. With its quotes, which no echoed text has plain. */
	readonly keyRejection?: string;
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
