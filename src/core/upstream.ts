/** Client for requests to other servers, as roles see it. Implemented in `io/http1/`. */

import type { ByteStream, HttpResponse } from './handler.ts';
import type { Rejection } from './rejection.ts';
import type { UpstreamError } from './upstream-error.ts';

/**
 * Sends one request to another server. Never follows redirects, never retries.
 * @throws `UpstreamError` with code `provider_unreachable`, `provider_connect_timeout`, `provider_first_byte_timeout` or `provider_total_timeout`.
 * @throws `Rejection` with code `client_closed`, or the given cause, if the client disconnected before the response began.
 * @returns a response whose body is always a stream. It fails with a `UpstreamError` `provider_disconnected`, `provider_idle_timeout` or
 * `provider_total_timeout`. Cancelling it ends the upstream request at once.
 */
export type Upstream = (request: UpstreamRequest) => Promise<UpstreamResponse>;

export interface UpstreamRequest {
	/** Scheme, host and port, such as `https://api.example.com`. From the configuration, never from a client. */
	readonly origin: string;
	readonly method: string;
	/** Path with query. */
	readonly target: string;
	readonly headers: Readonly<Record<string, string>>;
	/** Pieces are sent in sequence, as one body. */
	readonly body: Buffer | readonly Buffer[] | ByteStream | null;
	readonly timeouts: UpstreamTimeouts;
	/** False: a connection to a private, loopback or link-local address is rejected. */
	readonly canReachPrivateNetwork: boolean;
	/** Proxy for the request; direct to the origin by default. */
	readonly proxy?: UpstreamProxy | undefined;
	/** Called when sending begins: from then on the server may have processed the request. If it throws, nothing is sent. */
	readonly onSent?: () => void;
	/** True if a failure need not be reported to operators. */
	readonly isExpectedToFail?: boolean;
	/** Registers the function that ends the upstream request, with an optional cause, before its response has begun. */
	onClientDisconnect(listener: (cause?: Rejection | UpstreamError) => void): void;
}

/** An HTTP proxy, from the configuration. The proxy resolves the origin's name. */
export interface UpstreamProxy {
	/** Scheme, host and port, without credentials. */
	readonly origin: string;
	/** Value of `proxy-authorization`; never logged. */
	readonly authorization?: string | undefined;
}

export interface UpstreamTimeouts {
	readonly connectMs: number;
	/** From sending the request to the first byte of the response head. */
	readonly firstByteMs: number;
	/** From the response head to the first piece of its body; `idleMs` by default. */
	readonly bodyStartMs?: number;
	/** Between two pieces of the response body. */
	readonly idleMs: number;
	/** From the start to the last byte. */
	readonly totalMs: number;
	/** Named in the errors of requests that exceed a limit. */
	readonly settings?: TimeoutSettings;
}

/** Names of the settings that set the limits. */
export interface TimeoutSettings {
	readonly connect: string;
	readonly firstByte: string;
	readonly idle: string;
	readonly total: string;
}

export interface UpstreamResponse extends HttpResponse {
	readonly body: ByteStream;
}
