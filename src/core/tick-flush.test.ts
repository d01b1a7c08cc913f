import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { untilTickFlush } from '../io/http1/tick-writes.ts';
import { flushOnTick, reportTickErrors, uncorkOnTickFlush } from './tick-flush.ts';

const nextTick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('listeners are notified once, in order, before any write leaves, however late in the tick they register', async () => {
	const happened: string[] = [];
	uncorkOnTickFlush({ uncork: () => happened.push('first leaves') });
	flushOnTick({ onTickFlush: () => happened.push('first is notified') });
	uncorkOnTickFlush({ uncork: () => happened.push('second leaves') });
	await Promise.resolve();
	flushOnTick({ onTickFlush: () => happened.push('second is notified') });
	expect(happened).toEqual([]);
	await nextTick();
	expect(happened).toEqual(['first is notified', 'second is notified', 'first leaves', 'second leaves']);
	await nextTick();
	expect(happened).toHaveLength(4);
});

test('a listener that registers while a tick ends belongs to the next one', async () => {
	const happened: string[] = [];
	flushOnTick({
		onTickFlush() {
			uncorkOnTickFlush({ uncork: () => happened.push('late leaves') });
			flushOnTick({ onTickFlush: () => happened.push('late is notified') });
		},
	});
	uncorkOnTickFlush({ uncork: () => happened.push('leaves') });
	await nextTick();
	expect(happened).toEqual(['leaves']);
	await nextTick();
	expect(happened).toEqual(['leaves', 'late is notified', 'late leaves']);
});

test('a listener that throws stops neither other listeners nor writes, and is reported', async () => {
	const internalErrors: unknown[] = [];
	onTestFinished(reportTickErrors((internalError) => internalErrors.push(internalError)));
	const happened: string[] = [];
	const [first, second] = [new TypeError('a listener'), new TypeError('a socket')];
	uncorkOnTickFlush({
		uncork() {
			throw second;
		},
	});
	uncorkOnTickFlush({ uncork: () => happened.push('leaves') });
	flushOnTick({
		onTickFlush() {
			throw first;
		},
	});
	flushOnTick({ onTickFlush: () => happened.push('is notified') });
	await nextTick();
	expect(happened).toEqual(['is notified', 'leaves']);
	expect(internalErrors).toEqual([first, second]);
	uncorkOnTickFlush({ uncork: () => happened.push('next leaves') });
	await nextTick();
	expect(happened.at(-1)).toBe('next leaves');
});

test('a socket sends its writes of a tick whose listener throws', async () => {
	const internalErrors: unknown[] = [];
	onTestFinished(reportTickErrors((internalError) => internalErrors.push(internalError)));
	const server = createServer((socket) => {
		for (const piece of ['one ', 'two']) untilTickFlush(socket).write(piece);
		flushOnTick({
			onTickFlush() {
				throw new TypeError('a listener');
			},
		});
		setImmediate(() => untilTickFlush(socket).end(' three'));
	});
	onTestFinished(() => void server.close());
	await once(server.listen(0, '127.0.0.1'), 'listening');
	const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
	const pieces: string[] = [];
	client.setEncoding('utf8').on('data', (piece: string) => pieces.push(piece));
	await once(client, 'end');
	expect(pieces.join('')).toBe('one two three');
	expect(internalErrors).toHaveLength(1);
});
