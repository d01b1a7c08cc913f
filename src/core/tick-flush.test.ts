import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { untilTurnEnds } from '../io/http1/tick-writes.ts';
import { reportTickErrors, tellTurnEnd, uncorkAtTurnEnd } from './tick-flush.ts';

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('listeners are notified once, in order, before any write leaves, however late in the tick they register', async () => {
	const happened: string[] = [];
	uncorkAtTurnEnd({ uncork: () => happened.push('first leaves') });
	tellTurnEnd({ onTurnEnd: () => happened.push('first is told') });
	uncorkAtTurnEnd({ uncork: () => happened.push('second leaves') });
	await Promise.resolve();
	tellTurnEnd({ onTurnEnd: () => happened.push('second is told') });
	expect(happened).toEqual([]);
	await nextTurn();
	expect(happened).toEqual(['first is told', 'second is told', 'first leaves', 'second leaves']);
	await nextTurn();
	expect(happened).toHaveLength(4);
});

test('a listener that registers while a tick ends belongs to the next one', async () => {
	const happened: string[] = [];
	tellTurnEnd({
		onTurnEnd() {
			uncorkAtTurnEnd({ uncork: () => happened.push('late leaves') });
			tellTurnEnd({ onTurnEnd: () => happened.push('late is told') });
		},
	});
	uncorkAtTurnEnd({ uncork: () => happened.push('leaves') });
	await nextTurn();
	expect(happened).toEqual(['leaves']);
	await nextTurn();
	expect(happened).toEqual(['leaves', 'late is told', 'late leaves']);
});

test('a listener that throws stops neither other listeners nor writes, and is reported', async () => {
	const internalErrors: unknown[] = [];
	onTestFinished(reportTickErrors((internalError) => internalErrors.push(internalError)));
	const happened: string[] = [];
	const [first, second] = [new TypeError('a listener'), new TypeError('a socket')];
	uncorkAtTurnEnd({
		uncork() {
			throw second;
		},
	});
	uncorkAtTurnEnd({ uncork: () => happened.push('leaves') });
	tellTurnEnd({
		onTurnEnd() {
			throw first;
		},
	});
	tellTurnEnd({ onTurnEnd: () => happened.push('is told') });
	await nextTurn();
	expect(happened).toEqual(['is told', 'leaves']);
	expect(internalErrors).toEqual([first, second]);
	uncorkAtTurnEnd({ uncork: () => happened.push('next leaves') });
	await nextTurn();
	expect(happened.at(-1)).toBe('next leaves');
});

test('a socket sends its writes of a tick whose listener throws', async () => {
	const internalErrors: unknown[] = [];
	onTestFinished(reportTickErrors((internalError) => internalErrors.push(internalError)));
	const server = createServer((socket) => {
		for (const piece of ['one ', 'two']) untilTurnEnds(socket).write(piece);
		tellTurnEnd({
			onTurnEnd() {
				throw new TypeError('a listener');
			},
		});
		setImmediate(() => untilTurnEnds(socket).end(' three'));
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
