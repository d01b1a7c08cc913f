/** Client for requests to other servers, as roles see it. Implemented in `io/http1/`. */
import type { Fault } from './fault.ts';
import type { ByteStream, HttpResponse } from './handler.ts';
import type { Refusal } from './refusal.ts';

/**
 * Sends one request to another server. Never follows redirects, never retries.
 * @throws Fault `provider_unreachable`, `provider_connect_timeout`, `provider_first_byte_timeout`, `provider_total_timeout`;
 * Refusal `client_closed`, or the cause given, when the client left before the answer began.
 * The body of the answer is always a stream; it fails with a Fault `provider_disconnected`,
 * `provider_idle_timeout` or `provider_total_timeout`. Cancelling it ends the upstream request at once.
 */
export type Upstream = (request: UpstreamRequest) => Promise<UpstreamResponse>;

export interface UpstreamRequest {
	/** Scheme, host and port, such as `https://api.example.com`. From configuration, never from a caller. */
	readonly origin: string;
	readonly method: string;
	/** Path with query. */
	readonly target: string;
	readonly headers: Readonly<Record<string, string>>;
	/** Pieces are sent one behind the other, as if they were one. */
	readonly body: Buffer | readonly Buffer[] | ByteStream | null;
	readonly timeouts: UpstreamTimeouts;
	/** False: a connected address that is private, loopback or link-local is refused. */
	readonly mayReachPrivateNetwork: boolean;
	/** The proxy that the request goes through; straight to the origin by default. */
	readonly proxy?: UpstreamProxy | undefined;
	/** Called when the request begins to leave: from then on the other side may have worked on it. Nothing leaves when it throws. */
	readonly onSent?: () => void;
	/** True: a failure is no news to operators. */
	readonly isExpectedToFail?: boolean;
	/** Registers what ends the upstream request, with this cause if there is one, while its answer has not begun. */
	onClientGone(listener: (cause?: Refusal | Fault) => void): void;
}

/** An HTTP proxy, from configuration. It resolves the origin's name itself. */
export interface UpstreamProxy {
	/** Scheme, host and port, without credentials. */
	readonly origin: string;
	/** Value of `proxy-authorization`; never logged. */
	readonly authorization?: string | undefined;
}

export interface UpstreamTimeouts {
	readonly connectMs: number;
	/** From the request being sent to the first byte of the answer's head. */
	readonly firstByteMs: number;
	/** From the answer's head to the first piece of its body; `idleMs` by default. */
	readonly bodyStartMs?: number;
	/** Between two pieces of the answer's body. */
	readonly idleMs: number;
	/** From start to the last byte. */
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
