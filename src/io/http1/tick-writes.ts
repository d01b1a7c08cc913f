/** Batches socket writes of one tick of the event loop, so that they leave together. */
import type { Socket } from 'node:net';
import { uncorkOnTickFlush } from '../../core/tick-flush.ts';

/** Up to this size, copying a piece behind the earlier ones costs less than a write of several parts. */
const maxCopiedBytes = 16_384;

/**
 * Corks the socket before each write until the end of the tick; all sockets are then flushed in a row. A socket with several writes sends
 * once, and a peer on this machine wakes up once for many of them.
 */
export function untilTickFlush(socket: Socket): Socket {
	if (socket.writableCorked === 0) {
		socket.cork();
		uncorkOnTickFlush(socket);
	}
	return socket;
}

/**
 * Writes bytes between two texts of single-byte characters.
 * @param onTaken called when the kernel has accepted all of it, or with the error.
 * @returns false if the source should pause until `drain`.
 */
export function writeInOne(
	socket: Socket,
	before: string,
	bytes: Buffer,
	after: string,
	onTaken?: (error?: Error | null) => void,
): boolean {
	const length = before.length + bytes.length + after.length;
	untilTickFlush(socket);
	if (length <= maxCopiedBytes) {
		// Bytes that wait for a slow reader must not retain memory shared with other pieces.
		const whole = socket.writableLength === 0 ? Buffer.allocUnsafe(length) : Buffer.allocUnsafeSlow(length);
		whole.write(before, 'latin1');
		whole.set(bytes, before.length);
		if (after !== '') whole.write(after, length - after.length, 'latin1');
		return socket.write(whole, onTaken);
	}
	if (before !== '') socket.write(before, 'latin1');
	const takesMore = socket.write(bytes, after === '' ? onTaken : undefined);
	return after === '' ? takesMore : socket.write(after, 'latin1', onTaken);
}
