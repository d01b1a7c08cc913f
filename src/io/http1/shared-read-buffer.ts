/**
 * Sockets read into one shared buffer, and data is copied out of it. The runtime would make a buffer of 64 KiB for each read. Small copies
 * share memory, too: code that keeps one for long copies it (`core/byte-pieces.ts`). See `docs/decisions/0017-http-implementation.md`.
 */
import { type BoundSocket, type OnReadOpts, Socket } from 'node:net';

const sharedBytes = 65_536;

/** One for all sockets: its content is copied before anything else can be read. */
const shared = Buffer.allocUnsafeSlow(sharedBytes);

/** What one socket reads: it has no `data` events then. To be given to it as `onread`. */
export class SocketReads implements OnReadOpts {
	readonly buffer = shared;
	/** So many of the next bytes are not copied for `take`, which keeps none of them. A read that goes beyond is copied whole. */
	lentBytes = 0;
	/** Is given what comes, piece by piece. */
	take: ((bytes: Buffer) => void) | undefined;
	private readonly untaken: (bytes: Buffer) => boolean;

	/** @param untaken given what comes while nobody takes it; false to read no more until the socket is resumed. */
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

/** The part that the runtime's sockets keep to themselves, and this module has to know. */
interface Inside {
	_handle: { readonly useUserBuffer?: unknown } | null;
}

export interface Accepted {
	readonly socket: Socket;
	/** Undefined where the socket has `data` events after all. */
	readonly reads: SocketReads | undefined;
}

/**
 * Servers take no `onread`: the connection that one has just accepted goes on as another socket, which has it. What nobody
 * takes is for its `data` events, as ever. Sockets with TLS stay as they are.
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
	// The server counts what it accepted as one of its connections until that is destroyed.
	socket.once('close', () => accepted.destroy());
	return { socket, reads };
}
