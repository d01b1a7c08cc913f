/**
 * The one shape of the data plane. The gateway is a `Handler`, the edge wraps one, and the upstream client is one. The composition decides
 * which of them share a process; none of them can tell.
 */

import type { Caller } from './caller.ts';
import type { RejectionCode } from './rejection.ts';
import type { RequestRecord } from './request-record.ts';

export type Handler = (request: HttpRequest) => Promise<HttpResponse>;

/** Wraps a handler and may respond in its place. */
export type Layer = (inner: Handler) => Handler;

/** Header fields by lower-case name. */
export type HeaderFields = Readonly<Record<string, string | string[] | undefined>>;

export interface HttpRequest {
	/** Unique id that Tollgate assigns; returned as `x-request-id`. */
	readonly id: string;
	readonly method: string;
	/** Request target up to `?`, as received. */
	readonly path: string;
	/** Request target after `?`; empty if there is none. */
	readonly query: string;
	/** Header fields; `content-length` may be missing. */
	readonly headers: HeaderFields;
	/** Can be started once. The server discards a body that is never started. */
	readonly body: ByteStream;
	/** Value of `content-length`; 0 without a body, undefined if the body is chunked. */
	readonly announcedLength: number | undefined;
	/** Source address of the TCP connection. */
	readonly peerAddress: string;
	/** Monotonic time of arrival, see `Clock.monotonicMs`. */
	readonly arrivedMs: number;
	/** The authenticated client. Set by the edge layer, absent without an edge. */
	readonly caller?: Caller;
	/** Codes with which monitored parts of the firewall would have rejected the request; undefined: none. */
	readonly monitored?: readonly RejectionCode[] | undefined;
	/** Runs `listener` once when the client disconnects before its response is complete; immediately if it already has. */
	onClientDisconnect(listener: () => void): void;
}

export interface HttpResponse {
	readonly status: number;
	readonly headers: HeaderFields;
	readonly body: HttpBody;
	/** Record for the request's log line. Its owner may add to it until the last byte is sent. */
	readonly record?: RequestRecord;
	/** True if the connection closes after this response. */
	readonly closesConnection?: boolean;
}

/** A complete body, a body that arrives in pieces, or none. */
export type HttpBody = Buffer | string | ByteStream | null;

/**
 * Bytes that are pushed in pieces. `start` is called at most once. The source never calls the sink before `start` has returned. Unless
 * cancelled, it calls exactly one of `end` and `fail`, last.
 */
export interface ByteStream {
	start(sink: ByteSink): ByteFlow;
	/**
	 * Returns the complete body if it has already arrived and the stream has not been started. Used in place of `start`, so that there is
	 * nothing to wait for.
	 */
	takeAll?(): Buffer | undefined;
}

export interface ByteSink {
	/** True if the sink retains no chunk after `write` has returned. The source may then lend its own memory and reuse it. */
	readonly copiesChunks?: boolean | undefined;
	/** Returns false to pause the source until `ByteFlow.resume`. The source may still deliver bytes that it has buffered. */
	write(chunk: Buffer): boolean;
	end(): void;
	fail(cause: unknown): void;
}

export interface ByteFlow {
	resume(): void;
	/** Stops the source. Idempotent; nothing reaches the sink afterwards. */
	cancel(): void;
}

export type RoleName = 'edge' | 'gateway' | 'admin' | 'identity' | 'simulator';

/** A server that listens. `stop` lets in-flight requests finish within the grace time, then ends them. */
export interface Role {
	readonly name: RoleName | 'metrics';
	start(): Promise<void>;
	stop(): Promise<void>;
}

/**
 * Thrown by a handler or given to `ByteSink.fail`. The server destroys the connection at once and sends no further byte. If it is thrown
 * before a response exists, the client sees a reset instead of a status line.
 */
export class ConnectionReset extends Error {
	override readonly name = 'ConnectionReset';

	constructor(message = 'The connection is closed without a response') {
		super(message);
	}
}
