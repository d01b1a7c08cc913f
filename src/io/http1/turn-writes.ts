/** Writing to sockets, so that what is written in one turn of the event loop leaves together. */
import type { Socket } from 'node:net';
import { uncorkAtTurnEnd } from '../../core/turn-end.ts';

/** Up to here copying a piece next to what stands before it costs less than a write of several parts. */
const maxCopiedBytes = 16_384;

/**
 * For each write: what is written in a turn leaves at its end, all sockets in a row. A socket that is written to several times sends
 * once, and a peer on this machine that each write would wake up by itself is woken up once for many.
 */
export function untilTurnEnds(socket: Socket): Socket {
	if (socket.writableCorked === 0) {
		socket.cork();
		uncorkAtTurnEnd(socket);
	}
	return socket;
}

/**
 * Writes bytes between two texts of single-byte characters.
 * @param onTaken told when the system has taken all of it, or with why it has not.
 * @returns false when what waits is worth a pause until `drain`.
 */
export function writeInOne(
	socket: Socket,
	before: string,
	bytes: Buffer,
	after: string,
	onTaken?: (error?: Error | null) => void,
): boolean {
	const length = before.length + bytes.length + after.length;
	untilTurnEnds(socket);
	if (length <= maxCopiedBytes) {
		// What waits for a slow reader must not keep the memory that it would share with others' pieces.
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
