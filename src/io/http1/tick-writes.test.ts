import type { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { writeInOne } from './tick-writes.ts';

test('bytes that wait for a slow reader are stored in separate memory', async () => {
	const written: Buffer[] = [];
	const taken: (() => void)[] = [];
	const socket = new Writable({
		write(piece: Buffer, _encoding, isTaken) {
			written.push(piece);
			taken.push(isTaken);
		},
	}) as unknown as Socket;
	for (let turn = 0; turn < 2; turn++) {
		writeInOne(socket, 'before ', Buffer.from('bytes'), ' after');
		await new Promise((resolve) => setImmediate(resolve));
	}
	taken[0]?.();
	expect(written.map(String)).toEqual(['before bytes after', 'before bytes after']);
	expect(written[1]?.buffer.byteLength).toBe('before bytes after'.length);
});
