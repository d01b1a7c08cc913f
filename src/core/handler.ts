/**
 * The one shape of the data plane. The gateway is a `Handler`, the edge wraps one, the upstream client is one:
 * whether they share a process is decided where they are composed, and none of them can tell.
 */

import type { CallFacts } from './call-facts.ts';
import type { Caller } from './caller.ts';

export type Handler = (request: HttpRequest) => Promise<HttpResponse>;

/** For what surrounds a handler and may answer in its place. */
export type Layer = (inner: Handler) => Handler;

/** Header fields by lower-case name. */
export type HeaderFields = Readonly<Record<string, string | string[] | undefined>>;

export interface HttpRequest {
	/** Ours, unique, given out as `x-request-id`. */
	readonly id: string;
	readonly method: string;
	/** The target up to `?`, as received. */
	readonly path: string;
	/** The target after `?`; empty when there is none. */
	readonly query: string;
	/** The length of the body may be missing among them. */
	readonly headers: HeaderFields;
	/** May be started once; a body that nobody starts is discarded by the server. */
	readonly body: ByteStream;
	/** The `content-length`; 0 without a body, undefined when the body is chunked. */
	readonly announcedLength: number | undefined;
	/** Source address of the TCP connection. */
	readonly peerAddress: string;
	/** Monotonic, see `Clock.monotonicMs`. */
	readonly arrivedMs: number;
	/** Who calls. Set by the edge layer, absent when no edge stood in front. */
	readonly caller?: Caller;
	/** Runs `listener` once when the client leaves before its answer is complete; at once if it already has. */
	onClientGone(listener: () => void): void;
}

export interface HttpResponse {
	readonly status: number;
	readonly headers: HeaderFields;
	readonly body: HttpBody;
	/** What the request's log line says; its holder may still add to it until the last byte has left. */
	readonly facts?: CallFacts;
	/** True: the connection ends with this answer. */
	readonly closesConnection?: boolean;
}

/** A whole body, a body that comes in pieces, or none. */
export type HttpBody = Buffer | string | ByteStream | null;

/**
 * Bytes that come in pieces, pushed. `start` is called at most once. The source never calls the sink before
 * `start` has returned, and calls exactly one of `end` and `fail`, last, unless it was cancelled.
 */
export interface ByteStream {
	start(sink: ByteSink): ByteFlow;
	/** All of it, where it has come already and nobody has started it: then it need not be waited for. In place of `start`. */
	takeWhole?(): Buffer | undefined;
}

export interface ByteSink {
	/** True: it keeps no chunk after `write` has returned. The source may then lend its own memory and reuse it. */
	readonly copiesChunks?: boolean | undefined;
	/** False asks for silence until `ByteFlow.resume`; the source may deliver what it already holds. */
	write(chunk: Buffer): boolean;
	end(): void;
	fail(cause: unknown): void;
}

export interface ByteFlow {
	resume(): void;
	/** The sink wants no more. Idempotent; nothing reaches the sink afterwards. */
	cancel(): void;
}

export type RoleName = 'edge' | 'gateway' | 'admin' | 'identity' | 'simulator';

/** Something that listens. `stop` lets what is in flight finish within the grace time, then ends it. */
export interface Role {
	readonly name: RoleName | 'metrics';
	start(): Promise<void>;
	stop(): Promise<void>;
}

/**
 * Thrown by a handler, or given to `ByteSink.fail`: the server destroys the connection at once, with no further
 * byte. Thrown before an answer exists, the client sees a reset instead of a status line.
 */
export class ConnectionReset extends Error {
	override readonly name = 'ConnectionReset';

	constructor(message = 'The connection is closed without a response') {
		super(message);
	}
}
