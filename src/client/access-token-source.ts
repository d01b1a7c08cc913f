import { requestAccessToken, type TokenRequest } from './request-access-token.ts';

export interface AccessTokenSourceOptions {
	/** Full URL of the token endpoint, ending in `/oauth2/token`. It, the id and the secret may come straight from the environment. */
	readonly tokenEndpoint: string | URL | undefined;
	readonly clientId: string | undefined;
	readonly clientSecret: string | undefined;
	/** Space-separated scopes. Without it, the token has all scopes of the client except admin. */
	readonly scope?: string | undefined;
	/** Age at which an access token is replaced; less for tokens with a lifetime below 3600 s. Default 3000. */
	readonly refreshAfterSeconds?: number | undefined;
	/** Timeout of one request to the token endpoint. Default 10. */
	readonly timeoutSeconds?: number | undefined;
	readonly fetch?: typeof globalThis.fetch | undefined;
	/** Returns Unix time in milliseconds. */
	readonly nowMs?: (() => number) | undefined;
}

/** All members work detached from the object. */
export interface AccessTokenSource {
	/**
	 * Returns the cached access token, or a new one. Concurrent calls share one request to the token endpoint, and its failure; failures
	 * are not cached. If a refresh fails while the old token is valid, returns the old token.
	 * @throws AccessTokenError
	 */
	readonly accessToken: () => Promise<string>;
	/**
	 * `fetch` with `authorization: Bearer <access token>`, which replaces `authorization` and `x-api-key` of the request. Retries a 401
	 * response once with a new token, unless the body is a stream that cannot be sent twice.
	 * @throws AccessTokenError
	 */
	readonly fetch: typeof globalThis.fetch;
	/** Drops the cached access token, for example after a 401. */
	readonly invalidate: () => void;
}

interface CachedToken {
	readonly accessToken: string;
	readonly expiresAtMs: number | null;
	/** Time of the next attempt after a failed refresh. */
	refreshAtMs: number;
}

/** 3000 of 3600 s. Tokens with a shorter lifetime are refreshed at the same fraction of it. */
const refreshFraction = 5 / 6;
const retryRefreshAfterMs = 10_000;

/**
 * Creates a cached and refreshed access token for the `apiKey` functions of the official SDKs (Spec: Token caching guidance).
 * @throws TypeError if the token endpoint is not an http or https URL, or if the id or secret is missing or empty.
 */
export function createAccessTokenSource(options: AccessTokenSourceOptions): AccessTokenSource {
	const callFetch: typeof globalThis.fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
	const nowMs = options.nowMs ?? Date.now;
	const refreshAfterMs = (options.refreshAfterSeconds ?? 3000) * 1000;
	const request = readRequest(options, callFetch);
	let cached: CachedToken | undefined;
	let pending: Promise<string> | undefined;

	const accessToken = (): Promise<string> => {
		if (cached !== undefined && nowMs() < cached.refreshAtMs) return Promise.resolve(cached.accessToken);
		pending ??= refresh().finally(() => {
			pending = undefined;
		});
		return pending;
	};

	const refresh = async (): Promise<string> => {
		const requestedAtMs = nowMs();
		try {
			const response = await requestAccessToken(request);
			const lifetimeMs = response.expiresInSeconds === null ? null : response.expiresInSeconds * 1000;
			cached = {
				accessToken: response.accessToken,
				expiresAtMs: lifetimeMs === null ? null : requestedAtMs + lifetimeMs,
				refreshAtMs: requestedAtMs + Math.min(refreshAfterMs, lifetimeMs === null ? Infinity : lifetimeMs * refreshFraction),
			};
			return cached.accessToken;
		} catch (error) {
			if (cached === undefined || cached.expiresAtMs === null || cached.expiresAtMs <= nowMs()) throw error;
			cached.refreshAtMs = Math.min(nowMs() + retryRefreshAfterMs, cached.expiresAtMs);
			return cached.accessToken;
		}
	};

	return {
		accessToken,
		async fetch(input, init) {
			const usedToken = await accessToken();
			const response = await callFetch(input, authorize(input, init, usedToken));
			if (response.status !== 401) return response;
			// Several requests can get a 401 for the same token. Late ones must not drop the token that replaced it.
			if (cached?.accessToken === usedToken) cached = undefined;
			if (!isReplayable(input, init)) return response;
			await response.body?.cancel();
			return callFetch(input, authorize(input, init, await accessToken()));
		},
		invalidate() {
			cached = undefined;
		},
	};
}

function readRequest(options: AccessTokenSourceOptions, callFetch: typeof globalThis.fetch): TokenRequest {
	const { clientId, clientSecret } = options;
	// Node 20 does not have `URL.parse`.
	const tokenEndpoint = URL.canParse(String(options.tokenEndpoint)) ? new URL(String(options.tokenEndpoint)) : undefined;
	if (tokenEndpoint?.protocol !== 'https:' && tokenEndpoint?.protocol !== 'http:') {
		throw new TypeError('tokenEndpoint must be an http or https address');
	}
	if (!clientId || !clientSecret) throw new TypeError(`${clientId ? 'clientSecret' : 'clientId'} is missing`);
	return {
		tokenEndpoint,
		clientId,
		clientSecret,
		scope: options.scope,
		timeoutSeconds: options.timeoutSeconds ?? 10,
		fetch: callFetch,
	};
}

type FetchInput = Parameters<typeof globalThis.fetch>[0];

function authorize(input: FetchInput, init: RequestInit | undefined, accessToken: string): RequestInit {
	const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
	// Older SDKs put a vendor's key from the environment here, and the gateway must not receive it.
	headers.delete('x-api-key');
	headers.set('authorization', `Bearer ${accessToken}`);
	return { ...init, headers };
}

function isReplayable(input: FetchInput, init: RequestInit | undefined): boolean {
	const body = init?.body ?? (input instanceof Request ? input.body : null);
	if (body === null || typeof body === 'string' || ArrayBuffer.isView(body)) return true;
	return body instanceof ArrayBuffer || body instanceof Blob || body instanceof FormData || body instanceof URLSearchParams;
}
