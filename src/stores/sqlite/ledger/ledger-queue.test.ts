import { expect, test } from 'vitest';
import { ManualClock } from '../../../../test/support/manual-clock.ts';
import { createRememberedLog } from '../../../../test/support/remembered-log.ts';
import { until } from '../../../../test/support/until.ts';
import { Fault } from '../../../core/fault.ts';
import { closedRow, openRow } from '../../contracts/ledger.contract.ts';
import type { Closing } from '../../contracts/ledger.ts';
import { ThreadLost } from '../../store-thread.ts';
import type { RowException, WriteBatch } from './ledger-calls.ts';
import { LedgerQueue, mostQueuedRows } from './ledger-queue.ts';

/** A database in the hands of the test: each batch waits for `commit` or `fail`. */
function createScriptedWrites(): {
	write: (batch: WriteBatch) => Promise<readonly RowException[]>;
	batches: WriteBatch[];
	commit(exceptions?: RowException[]): Promise<void>;
	fail(cause: Error): Promise<void>;
} {
	const batches: WriteBatch[] = [];
	let waiting: PromiseWithResolvers<readonly RowException[]> | undefined;
	const answered = async (answer: (batch: PromiseWithResolvers<readonly RowException[]>) => void): Promise<void> => {
		await until(() => waiting !== undefined, 'a batch under way');
		const batch = waiting;
		waiting = undefined;
		if (batch !== undefined) answer(batch);
		await new Promise((resolve) => setImmediate(resolve));
	};
	return {
		batches,
		write(batch) {
			if (waiting !== undefined) throw new Error('Two batches are under way');
			batches.push(batch);
			waiting = Promise.withResolvers();
			return waiting.promise;
		},
		commit: (exceptions = []) => answered(({ resolve }) => resolve(exceptions)),
		fail: (cause) => answered(({ reject }) => reject(cause)),
	};
}

function setUp() {
	const clock = new ManualClock();
	const log = createRememberedLog();
	const disk = createScriptedWrites();
	const queue = new LedgerQueue({ write: disk.write, clock, log, path: 'ledger.db' });
	return { clock, log, disk, queue, ...callers(queue) };
}

/** Outcomes as they come: `open a: done`. */
function callers(queue: LedgerQueue) {
	const outcomes: string[] = [];
	const note = (what: string, promise: Promise<Closing | void>): void => {
		promise.then(
			(result) => outcomes.push(`${what}: ${result ?? 'done'}`),
			(cause: unknown) => outcomes.push(`${what}: ${cause instanceof Fault ? cause.code : String(cause)}`),
		);
	};
	return {
		outcomes,
		open: (id: string) => note(`open ${id}`, queue.open(openRow(id))),
		close: (id: string) => note(`close ${id}`, queue.close(closedRow(id))),
	};
}

const idsIn = ({ opens, closes }: WriteBatch): string => `${opens.map(([id]) => id).join('')}|${closes.map(([id]) => id).join('')}`;

test('rows of one turn of the event loop, and those that come while a batch is under way, share a batch', async () => {
	const { disk, open, close, outcomes } = setUp();
	open('a');
	open('b');
	await until(() => disk.batches.length === 1);
	open('c');
	close('a');
	await new Promise((resolve) => setImmediate(resolve));
	expect(disk.batches.map(idsIn)).toEqual(['ab|']);
	expect(outcomes).toEqual([]);
	await disk.commit();
	await disk.commit();
	expect(disk.batches.map(idsIn)).toEqual(['ab|', 'c|a']);
	expect(outcomes).toEqual(['open a: done', 'open b: done', 'open c: done', 'close a: closed']);
});

test('closes go with the next open, after a rest without one, or at the end', async () => {
	const { disk, queue, open, close } = setUp();
	close('a');
	await new Promise((resolve) => setImmediate(resolve));
	open('b');
	await disk.commit();
	close('c');
	await disk.commit();
	close('d');
	const ending = queue.end();
	await new Promise((resolve) => setImmediate(resolve));
	await disk.commit();
	await ending;
	expect(disk.batches.map(idsIn)).toEqual(['b|a', '|c', '|d']);
});

test('a batch holds at most a thousand rows of each kind', async () => {
	const { disk, open } = setUp();
	for (let index = 0; index < 2500; index++) open(`${index}`);
	for (let round = 0; round < 3; round++) await disk.commit();
	expect(disk.batches.map(({ opens }) => opens.length)).toEqual([1000, 1000, 500]);
});

test('what the database found odd is told to its caller alone', async () => {
	const { disk, open, close, outcomes, queue } = setUp();
	for (const id of ['a', 'b', 'c', 'd']) close(id);
	open('e');
	open('f');
	await disk.commit([
		{ of: 'closes', index: 1, what: 'closed_before' },
		{ of: 'closes', index: 2, what: 'unknown' },
		{ of: 'closes', index: 3, what: 'failed' },
		{ of: 'opens', index: 1, what: 'failed' },
	]);
	expect(outcomes.toSorted()).toEqual([
		'close a: closed',
		'close b: closed_before',
		'close c: unknown',
		'close d: records_unavailable',
		'open e: done',
		'open f: records_unavailable',
	]);
	expect(queue.health()).toEqual({ isWritable: true, queuedRows: 0, unknownCloses: 1, repeatedCloses: 1, rejectedRows: 2, lostCloses: 1 });
});

test('after a failure opens are refused at once, closes are kept, and both are tried again a quarter of a second later', async () => {
	const { disk, clock, log, open, close, outcomes, queue } = setUp();
	open('a');
	close('b');
	await until(() => disk.batches.length === 1);
	open('c');
	close('d');
	await disk.fail(new Error('database or disk is full'));
	open('e');
	close('f');
	await new Promise((resolve) => setImmediate(resolve));
	expect(outcomes.toSorted()).toEqual(
		['a', 'c', 'e']
			.map((id) => `open ${id}: records_unavailable`)
			.concat(['b', 'd', 'f'].map((id) => `close ${id}: records_unavailable`))
			.toSorted(),
	);
	expect(disk.batches).toHaveLength(1);
	clock.advance(250);
	// The open that may have been written is taken back.
	expect(disk.batches.slice(1).map(idsIn)).toEqual(['|bdaf']);
	await disk.fail(new Error('database or disk is full'));
	clock.advance(250);
	await disk.commit([{ of: 'closes', index: 2, what: 'unknown' }]);
	expect(disk.batches.slice(2).map(idsIn)).toEqual(['|bdaf']);
	expect(queue.health()).toMatchObject({ isWritable: true, queuedRows: 0, unknownCloses: 0, lostCloses: 0 });
	expect(log.lines.map(({ level }) => level)).toEqual(['error', 'info']);
	open('g');
	await disk.commit();
	expect(outcomes).toContain('open g: done');
});

test('without rows to write, an empty batch finds out whether it works again', async () => {
	const { disk, clock, open, queue } = setUp();
	open('a');
	await disk.fail(new Error('attempt to write a readonly database'));
	clock.advance(250);
	await disk.commit();
	expect(queue.health().isWritable).toBe(true);
	open('b');
	await disk.commit();
	expect(disk.batches.map(idsIn)).toEqual(['a|', '|a', 'b|']);
});

test('a batch whose thread died is sent again, and a close that was done then is closed', async () => {
	const { disk, log, open, close, outcomes, queue } = setUp();
	open('a');
	close('b');
	await disk.fail(new ThreadLost('it died'));
	expect(disk.batches.map(idsIn)).toEqual(['a|b', 'a|b']);
	await disk.commit([{ of: 'closes', index: 0, what: 'closed_before' }]);
	expect(outcomes).toEqual(['open a: done', 'close b: closed']);
	expect(log.lines.map(({ level }) => level)).toEqual(['warn']);
	expect(queue.health()).toMatchObject({ repeatedCloses: 0, rejectedRows: 0 });
});

test('a thread that dies twice is a failure; what it may have opened is taken back', async () => {
	const { disk, clock, open, outcomes, queue } = setUp();
	open('a');
	await disk.fail(new ThreadLost('it died'));
	await disk.fail(new ThreadLost('it died'));
	expect(outcomes).toEqual(['open a: records_unavailable']);
	expect(queue.health().isWritable).toBe(false);
	clock.advance(250);
	expect(disk.batches.map(idsIn)).toEqual(['a|', 'a|', '|a']);
	expect(disk.batches[2]?.closes[0]?.slice(2, 4)).toEqual([5, 503]);
});

test('a disk that does not answer refuses everybody after three seconds, and opens that it wrote at last are taken back', async () => {
	const { disk, clock, log, open, close, outcomes, queue } = setUp();
	open('a');
	await until(() => disk.batches.length === 1);
	clock.advance(3000);
	open('b');
	close('c');
	await new Promise((resolve) => setImmediate(resolve));
	expect(outcomes).toEqual(['open a: records_unavailable', 'open b: records_unavailable', 'close c: records_unavailable']);
	expect(queue.health().isWritable).toBe(false);
	await disk.commit();
	expect(queue.health().isWritable).toBe(true);
	await disk.commit();
	expect(disk.batches.map(idsIn)).toEqual(['a|', '|ca']);
	expect(log.lines.map(({ level }) => level)).toEqual(['error', 'info']);
});

test('when too many rows wait, more are refused', async () => {
	const { disk, queue, open, close, outcomes } = setUp();
	open('first');
	await until(() => disk.batches.length === 1);
	for (let index = 1; index < mostQueuedRows; index++) queue.open(openRow('x')).catch(() => undefined);
	open('a');
	close('b');
	await new Promise((resolve) => setImmediate(resolve));
	expect(outcomes).toEqual(['open a: records_unavailable', 'close b: records_unavailable']);
	expect(queue.health()).toMatchObject({ queuedRows: mostQueuedRows, lostCloses: 1, isWritable: true });
});

test('the end waits for what was accepted', async () => {
	const { disk, queue, open, outcomes, clock } = setUp();
	open('a');
	await until(() => disk.batches.length === 1);
	open('b');
	let hasEnded = false;
	const ending = queue.end().then(() => {
		hasEnded = true;
	});
	open('c');
	await disk.commit();
	expect(hasEnded).toBe(false);
	await disk.commit();
	await ending;
	expect(outcomes).toEqual(['open c: records_unavailable', 'open a: done', 'open b: done']);
	expect(clock.pending).toBe(0);
});

test('the end of a ledger that cannot be written tries once more, and says what is lost', async () => {
	const { disk, queue, close, log, clock } = setUp();
	close('a');
	await disk.fail(new Error('database or disk is full'));
	const ending = queue.end();
	await disk.fail(new Error('database or disk is full'));
	await ending;
	expect(queue.health()).toMatchObject({ lostCloses: 1, queuedRows: 0 });
	expect(log.lines.map(({ event }) => event)).toEqual([
		'the ledger cannot be written',
		'ledger rows were not closed; the next start charges their holds',
	]);
	expect(clock.pending).toBe(0);
});
