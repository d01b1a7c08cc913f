import type { DialectName } from '../../core/dialect-name.ts';
import type { HeaderFields } from '../../core/handler.ts';
import { memoizeHeaders } from '../../core/header-memo.ts';
import type { UpstreamProxy } from '../../core/upstream.ts';
import { anthropic } from './anthropic.ts';
import { azureOpenai } from './azure-openai.ts';
import { gemini, geminiOpenai } from './gemini.ts';
import { openai, openaiCompatible } from './openai.ts';
import { type ForwardedHeader, type Protocol, type ProviderEndpoint, withQuery } from './protocol.ts';

/** By kind, in the order in which kinds are listed. `openai-compatible` is for servers of others, which may need no key. */
const protocols = {
	anthropic,
	openai,
	gemini,
	'azure-openai': azureOpenai,
	'openai-compatible': openaiCompatible,
} as const satisfies Readonly<Record<string, Protocol>>;

export type ProviderKind = keyof typeof protocols;

export const providerKinds = Object.keys(protocols) as readonly ProviderKind[];

export interface ProviderSettings {
	readonly name: string;
	readonly kind: ProviderKind;
	/** Base URL as the vendor's SDK takes it; its path is kept as a prefix. Null if not configured yet. */
	readonly baseUrl: string | null;
	/** Null if not configured yet; for `openai-compatible`, null if none is needed. */
	readonly apiKey: string | null;
	readonly canReachPrivateNetwork: boolean;
	/** Proxy for its requests; none by default. */
	readonly proxy?: UpstreamProxy | undefined;
	/** Version in Azure's classic URL form; null, the default, selects the newer form. */
	readonly apiVersion?: string | null;
	/** False for a server that rejects `stream_options`; usage of its streams is estimated. */
	readonly requestsStreamUsage?: boolean;
	/** For Gemini: true to use its endpoint for chat completions instead of its own format. */
	readonly usesOpenaiDialect?: boolean;
	/** For `openai-compatible`: true for a server with the Responses API. */
	readonly servesResponses?: boolean;
	/** Sent with every request, whatever the client sends. */
	readonly headers?: Readonly<Record<string, string>>;
}

/** Placeholder for a key in sample configurations. */
export const keyPlaceholder = 'REPLACE_ME';

/**
 * Header fields of the client that every provider may receive. All others are dropped: credentials and addresses above all.
 * `idempotency-key` is dropped because all teams share the provider's key, and one could receive another's response.
 */
const commonForwards: readonly ForwardedHeader[] = [{ from: 'accept', to: 'accept' }];

/** A configured provider: its location and the fields of its requests. */
export class Provider {
	readonly name: string;
	readonly kind: ProviderKind;
	readonly protocol: Protocol;
	/** Scheme, host and port. */
	readonly origin: string;
	readonly canReachPrivateNetwork: boolean;
	readonly proxy: UpstreamProxy | undefined;
	/** Values that its responses must not disclose: its key, and configured header values. */
	readonly secrets: readonly string[];
	/** False until an operator sets its key and URL; it cannot be called before. */
	readonly isConfigured: boolean;
	readonly requestsStreamUsage: boolean;
	readonly #endpoint: ProviderEndpoint;
	readonly #baseHeaders: Readonly<Record<string, string>>;
	readonly #forwards: readonly ForwardedHeader[];
	/** Names of header fields that the operator sets. */
	readonly #configured: ReadonlySet<string>;

	constructor(settings: ProviderSettings) {
		const { name, kind, baseUrl, apiKey, canReachPrivateNetwork, apiVersion = null, headers = {} } = settings;
		const url = baseUrl === null ? undefined : new URL(baseUrl);
		const needsNoKey = kind === 'openai-compatible' && apiKey === null;
		this.name = name;
		this.kind = kind;
		this.requestsStreamUsage = settings.requestsStreamUsage ?? true;
		this.protocol = protocolOf(settings);
		this.origin = url?.origin ?? '';
		this.canReachPrivateNetwork = canReachPrivateNetwork;
		this.proxy = settings.proxy;
		const key = apiKey?.trim() ?? '';
		this.secrets = [key, ...[...Object.values(headers), this.proxy?.authorization ?? ''].flatMap(secretsIn)].filter(
			(secret) => secret !== '',
		);
		this.isConfigured = url !== undefined && (needsNoKey || (key !== '' && key !== keyPlaceholder));
		this.#endpoint = { pathPrefix: url?.pathname.replace(/\/+$/, '') ?? '', apiVersion };
		this.#configured = new Set(Object.keys(headers));
		this.#forwards = [...commonForwards, ...this.protocol.forwards].filter(({ to }) => !this.#configured.has(to));
		this.#baseHeaders = {
			'content-type': 'application/json',
			// Responses are read in transit, and events must not wait in a compressor.
			'accept-encoding': 'identity',
			'user-agent': 'tollgate',
			...this.protocol.defaultHeaders,
			...(needsNoKey ? {} : this.protocol.authenticate(key)),
			...headers,
		};
	}

	/** Returns path and query of the URL for a dialect that the provider serves. @throws `Rejection` `field_invalid`. */
	locate(dialect: DialectName, model: string, query: string, isStreaming: boolean): string {
		const locate = this.protocol.apis[dialect];
		if (locate === undefined) throw new Error(`\`${this.name}\` does not serve ${dialect}`);
		return locate(this.#endpoint, model, query, isStreaming);
	}

	/**
	 * Returns path and query of the URL below that of a dialect.
	 * @param path such as `/compact`.
	 * @throws `Rejection` `field_invalid`.
	 */
	locateBelow(dialect: DialectName, model: string, path: string, query: string): string {
		const located = this.locate(dialect, model, query, false);
		const mark = located.indexOf('?');
		return mark === -1 ? `${located}${path}` : `${located.slice(0, mark)}${path}${located.slice(mark)}`;
	}

	/** True if `locateCount` has a URL. */
	get countsTokens(): boolean {
		return this.protocol.countPath !== undefined;
	}

	/** Returns path and query for token counts. @throws Error if there is none. */
	locateCount(query: string): string {
		const { countPath } = this.protocol;
		if (countPath === undefined) throw new Error(`\`${this.name}\` does not support token counting`);
		return withQuery(`${this.#endpoint.pathPrefix}${countPath}`, query);
	}

	/** Returns the header fields of a request to the provider, given the client's. */
	readonly requestHeaders = memoizeHeaders((received): Readonly<Record<string, string>> => {
		const headers: Record<string, string> = { ...this.#baseHeaders };
		const forward = (from: string, to: string): void => {
			const value = received[from];
			if (value === undefined) return;
			const text = typeof value === 'string' ? value : value.join(', ');
			if (isPlain(text)) headers[to] = text;
		};
		for (const name of this.#namesByPrefix(received)) forward(name, name);
		for (const { from, to } of this.#forwards) forward(from, to);
		return headers;
	});

	/** Names of the client's fields that are forwarded by prefix. Fields that the operator configured are not. */
	#namesByPrefix(received: HeaderFields): readonly string[] {
		const { forwardedPrefix } = this.protocol;
		if (forwardedPrefix === undefined) return [];
		const { prefix, except } = forwardedPrefix;
		return Object.keys(received).filter((name) => name.startsWith(prefix) && !except.has(name) && !this.#configured.has(name));
	}
}

function protocolOf({ kind, usesOpenaiDialect, servesResponses }: ProviderSettings): Protocol {
	if (kind === 'gemini' && usesOpenaiDialect === true) return geminiOpenai;
	return kind === 'openai-compatible' && servesResponses === true ? openai : protocols[kind];
}

/** Returns a field's value, and the part after a scheme such as `Bearer`, because some providers quote only the credentials. */
function secretsIn(value: string): string[] {
	const [, credentials] = /^[A-Za-z][\w-]* +(\S.*)$/.exec(value.trim()) ?? [];
	return [value.trim(), ...(credentials === undefined ? [] : [credentials])];
}

/** Visible ASCII, spaces and tabs only: nothing else is forwarded, whatever the HTTP parser accepted. */
function isPlain(text: string): boolean {
	return /^[\x20-\x7e\t]*$/.test(text);
}
