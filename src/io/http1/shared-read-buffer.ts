/**
 * Sockets read into one shared buffer, and data is copied out of it. The runtime would allocate 64 KiB for each read. Small copies share
 * memory as well, so code that retains one copies it (`core/byte-pieces.ts`). See `docs/decisions/0017-http-implementation.md`.
 */
import { type BoundSocket, type OnReadOpts, Socket } from 'node:net';

const sharedBytes = 65_536;

/** One for all sockets: its content is copied before anything else can be read. */
const shared = Buffer.allocUnsafeSlow(sharedBytes);

/** Reads of one socket, passed to it as `onread`. The socket then emits no `data` events. */
export class SocketReads implements OnReadOpts {
	readonly buffer = shared;
	/** Number of next bytes that are lent to `take` without a copy; it retains none of them. A read beyond that number is copied whole. */
	lentBytes = 0;
	/** Receives each piece. */
	take: ((bytes: Buffer) => void) | undefined;
	private readonly untaken: (bytes: Buffer) => boolean;

	/** @param untaken receives pieces while `take` is undefined; it returns false to stop reading until the socket is resumed. */
	constructor(untaken: (bytes: Buffer) => boolean) {
		this.untaken = untaken;
	}

	readonly callback = (count: number): boolean => {
		const bytes = count <= this.lentBytes ? shared.subarray(0, count) : copyOfShared(count);
		this.lentBytes = Math.max(0, this.lentBytes - count);
		if (this.take === undefined) return this.untaken(bytes);
		this.take(bytes);
		return true;
	};
}

function copyOfShared(count: number): Buffer {
	const bytes = Buffer.allocUnsafe(count);
	shared.copy(bytes, 0, 0, count);
	return bytes;
}

/** Internal members of the runtime's sockets that this module needs. */
interface Inside {
	_handle: { readonly useUserBuffer?: unknown } | null;
}

export interface Accepted {
	readonly socket: Socket;
	/** Undefined if the socket emits `data` events after all. */
	readonly reads: SocketReads | undefined;
}

/**
 * Servers accept no `onread`, so the handle of an accepted connection moves to another socket that has it. Pieces without a taker are
 * emitted as `data` events. TLS sockets stay unchanged.
 */
export function adoptSocketWithSharedBuffer(accepted: Socket): Accepted {
	const inside = accepted as unknown as Inside;
	const { _handle: handle } = inside;
	if (Object.getPrototypeOf(accepted) !== Socket.prototype || typeof handle?.useUserBuffer !== 'function') {
		return { socket: accepted, reads: undefined };
	}
	inside._handle = null;
	const reads = new SocketReads((bytes) => socket.push(bytes));
	const socket: Socket = new Socket({ handle: handle as BoundSocket, onread: reads, allowHalfOpen: accepted.allowHalfOpen });
	// The server counts the accepted socket as a connection until it is destroyed.
	socket.once('close', () => accepted.destroy());
	return { socket, reads };
}
