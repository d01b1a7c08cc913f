import type { ConversationDialectName, DialectName } from '../../core/dialect-name.ts';
import type { RateLimitKind } from '../../core/health-report.ts';

/** Addressing, authentication and forwarded header fields of one kind of provider. Contains no policy. */
export interface Protocol {
	/** Dialect of its conversations, into which other dialects are translated. */
	readonly conversation: ConversationDialectName;
	/** URLs by the dialects that it serves, `conversation` among them. */
	readonly apis: Readonly<Partial<Record<DialectName, Locate>>>;
	/** Path for token counts of requests in the provider's own format; undefined if there is none. */
	readonly countPath?: string;
	authenticate(apiKey: string): Readonly<Record<string, string>>;
	/** Sent unless the client sends them and they are forwarded. */
	readonly defaultHeaders: Readonly<Record<string, string>>;
	/** Header fields of the client to forward, in addition to the common ones. A later entry with the same `to` takes precedence. */
	readonly forwards: readonly ForwardedHeader[];
	/** Header fields of the client to forward under their own name by prefix, known or not; `forwards` takes precedence. */
	readonly forwardedPrefix?: ForwardedPrefix;
	/** Fields of responses that report rate limits of the account; empty if there are none. */
	readonly rateLimits: readonly RateLimitFields[];
	/** Codes in the body of a 429 that mean exhausted credit instead of a rate limit: a retry cannot help. */
	readonly spendStops: readonly string[];
	/**
	 * Text in the body of a 400 that means that the gateway's key is wrong, not the client's request. Includes its quotes, which echoed text
	 * contains only escaped.
	 */
	readonly keyRejection?: string;
}

/**
 * Returns path and query of the URL for requests of one dialect.
 * @param query the client's, without `?`; empty for none.
 * @param isStreaming for providers whose URL decides it, not the body.
 * @throws `Rejection` `field_invalid` if no model of this provider can have that name.
 */
export type Locate = (endpoint: ProviderEndpoint, model: string, query: string, isStreaming: boolean) => string;

/** Returns a `Locate` for a path that is the same for all models. */
export function fixedPath(path: string): Locate {
	return ({ pathPrefix }, _model, query) => withQuery(`${pathPrefix}${path}`, query);
}

/** Names of the header fields for one rate limit. */
export interface RateLimitFields {
	readonly kind: RateLimitKind;
	readonly limit: string;
	readonly remaining: string;
	readonly reset: string;
}

/** Fields of OpenAI and Azure, whose `reset` is a duration such as `6m0s`, or in seconds. */
export const openaiRateLimits: readonly RateLimitFields[] = (['requests', 'tokens'] as const).map(
	(kind): RateLimitFields => ({
		kind,
		limit: `x-ratelimit-limit-${kind}`,
		remaining: `x-ratelimit-remaining-${kind}`,
		reset: `x-ratelimit-reset-${kind}`,
	}),
);

export interface ForwardedPrefix {
	readonly prefix: string;
	/** Names that are not forwarded, because they select an account, which only the operator does. */
	readonly except: ReadonlySet<string>;
}

export interface ForwardedHeader {
	readonly from: string;
	readonly to: string;
}

/** Location of a configured provider, in addition to its origin. */
export interface ProviderEndpoint {
	/** Path of the base URL without a trailing slash; empty for none. */
	readonly pathPrefix: string;
	/** Version in Azure's classic URLs; null for the newer ones, which have none. */
	readonly apiVersion: string | null;
}

export function withQuery(path: string, query: string): string {
	return query === '' ? path : `${path}?${query}`;
}
