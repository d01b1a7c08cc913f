import { memoizeHeaders } from '../../core/header-memo.ts';
import type { UpstreamProxy } from '../../core/upstream.ts';
import { anthropic } from './anthropic.ts';
import { azureOpenai } from './azure-openai.ts';
import { gemini, geminiOpenai } from './gemini.ts';
import { openai } from './openai.ts';
import { type ForwardedHeader, type Protocol, type ProviderPlace, withQuery } from './protocol.ts';

/** By kind, in the order in which kinds are listed. `openai-compatible` is `openai` for servers of others, which may need no key. */
const protocols = {
	anthropic,
	openai,
	gemini,
	'azure-openai': azureOpenai,
	'openai-compatible': openai,
} as const satisfies Readonly<Record<string, Protocol>>;

export type ProviderKind = keyof typeof protocols;

export const providerKinds = Object.keys(protocols) as readonly ProviderKind[];

export interface ProviderSettings {
	readonly name: string;
	readonly kind: ProviderKind;
	/** What the vendor's SDK takes as base address; its path is kept as a prefix. Null: not known yet. */
	readonly baseUrl: string | null;
	/** Null: not known yet; of `openai-compatible`: none is needed. */
	readonly apiKey: string | null;
	readonly mayReachPrivateNetwork: boolean;
	/** The proxy to it; none by default. */
	readonly proxy?: UpstreamProxy | undefined;
	/** Of Azure's classic address form; null, the default, is the newer form. */
	readonly apiVersion?: string | null;
	/** False: a server that refuses `stream_options`; its streams are charged from what was seen. */
	readonly asksForStreamUsage?: boolean;
	/** Of Gemini: by what it offers to programs that were written for chat completions, instead of its own format. */
	readonly speaksOpenai?: boolean;
	/** Sent with every request, whatever the caller sends. */
	readonly headers?: Readonly<Record<string, string>>;
}

/** Stands in sample configurations where a key belongs. */
export const keyPlaceholder = 'REPLACE_ME';

/**
 * What every provider may see of the caller's header fields. All others stay here: credentials and addresses above all, and
 * `idempotency-key`, for all teams share the provider's key and one could be given another's answer.
 */
const commonForwards: readonly ForwardedHeader[] = [{ from: 'accept', to: 'accept' }];

/** A configured provider: where it lies and what is said to it. */
export class Provider {
	readonly name: string;
	readonly kind: ProviderKind;
	readonly protocol: Protocol;
	/** Scheme, host and port. */
	readonly origin: string;
	readonly mayReachPrivateNetwork: boolean;
	readonly proxy: UpstreamProxy | undefined;
	/** What its answers must not tell: its key, and what the operator has it sent in header fields. */
	readonly secrets: readonly string[];
	/** False: it cannot be called before an operator sets its key and address. */
	readonly isConfigured: boolean;
	readonly asksForStreamUsage: boolean;
	readonly #place: ProviderPlace;
	readonly #baseHeaders: Readonly<Record<string, string>>;
	readonly #forwards: readonly ForwardedHeader[];

	constructor(settings: ProviderSettings) {
		const { name, kind, baseUrl, apiKey, mayReachPrivateNetwork, apiVersion = null, headers = {} } = settings;
		const url = baseUrl === null ? undefined : new URL(baseUrl);
		const needsNoKey = kind === 'openai-compatible' && apiKey === null;
		this.name = name;
		this.kind = kind;
		this.asksForStreamUsage = settings.asksForStreamUsage ?? true;
		this.protocol = kind === 'gemini' && settings.speaksOpenai === true ? geminiOpenai : protocols[kind];
		this.origin = url?.origin ?? '';
		this.mayReachPrivateNetwork = mayReachPrivateNetwork;
		this.proxy = settings.proxy;
		const key = apiKey?.trim() ?? '';
		this.secrets = [key, ...[...Object.values(headers), this.proxy?.authorization ?? ''].flatMap(secretsIn)].filter(
			(secret) => secret !== '',
		);
		this.isConfigured = url !== undefined && (needsNoKey || (key !== '' && key !== keyPlaceholder));
		this.#place = { pathPrefix: url?.pathname.replace(/\/+$/, '') ?? '', apiVersion };
		this.#forwards = [...commonForwards, ...this.protocol.forwards].filter(({ to }) => headers[to] === undefined);
		this.#baseHeaders = {
			'content-type': 'application/json',
			// Answers are read on their way, and events must not wait in a compressor.
			'accept-encoding': 'identity',
			'user-agent': 'tollgate',
			...this.protocol.defaultHeaders,
			...(needsNoKey ? {} : this.protocol.authenticate(key)),
			...headers,
		};
	}

	/** Path with query of the inference address. @throws Refusal `field_invalid`. */
	locate(model: string, query: string, isStreamed: boolean): string {
		return this.protocol.locate(this.#place, model, query, isStreamed);
	}

	/** Whether `locateCount` has an address. */
	get countsTokens(): boolean {
		return this.protocol.countPath !== undefined;
	}

	/** The same of what counts tokens. @throws Error where nothing does. */
	locateCount(query: string): string {
		const { countPath } = this.protocol;
		if (countPath === undefined) throw new Error(`\`${this.name}\` does not support token counting`);
		return withQuery(`${this.#place.pathPrefix}${countPath}`, query);
	}

	/** Header fields of a request to the provider, given those of the caller's. */
	readonly requestHeaders = memoizeHeaders((received): Readonly<Record<string, string>> => {
		const headers: Record<string, string> = { ...this.#baseHeaders };
		for (const { from, to } of this.#forwards) {
			const value = received[from];
			if (value === undefined) continue;
			const text = typeof value === 'string' ? value : value.join(', ');
			if (isPlain(text)) headers[to] = text;
		}
		return headers;
	});
}

/** A field's value, and what follows a scheme in it, such as `Bearer`: whoever quotes credentials quotes them alone. */
function secretsIn(value: string): string[] {
	const [, credentials] = /^[A-Za-z][\w-]* +(\S.*)$/.exec(value.trim()) ?? [];
	return [value.trim(), ...(credentials === undefined ? [] : [credentials])];
}

/** Visible ASCII and spaces only: nothing else is forwarded, whatever the HTTP parser let through. */
function isPlain(text: string): boolean {
	return /^[\x20-\x7e\t]*$/.test(text);
}
