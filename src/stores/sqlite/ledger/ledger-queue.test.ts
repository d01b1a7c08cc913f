import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../../../test/support/manual-clock.ts';
import { createRememberedLog } from '../../../../test/support/remembered-log.ts';
import { until } from '../../../../test/support/until.ts';
import { Fault } from '../../../core/fault.ts';
import { closedRow, openRow } from '../../contracts/ledger.contract.ts';
import type { Closing } from '../../contracts/ledger.ts';
import { ThreadLost } from '../../store-thread.ts';
import { readLine } from './compact-rows.ts';
import type { RowException, WriteBatch } from './ledger-calls.ts';
import { LedgerQueue, mostQueuedRows } from './ledger-queue.ts';

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A database in the hands of the test: each batch waits for `commit` or `fail`. */
function createScriptedWrites() {
	const batches: WriteBatch[] = [];
	let waiting: PromiseWithResolvers<readonly RowException[]> | undefined;
	const answered = async (answer: (batch: PromiseWithResolvers<readonly RowException[]>) => void): Promise<void> => {
		await until(() => waiting !== undefined, 'a batch under way');
		const batch = waiting;
		waiting = undefined;
		if (batch !== undefined) answer(batch);
		await nextTurn();
	};
	return {
		batches,
		write(batch: WriteBatch): Promise<readonly RowException[]> {
			batches.push(batch);
			if (waiting !== undefined) throw new Error('Two batches are under way');
			waiting = Promise.withResolvers();
			return waiting.promise;
		},
		commit: (exceptions: RowException[] = []) => answered(({ resolve }) => resolve(exceptions)),
		fail: (cause: Error) => answered(({ reject }) => reject(cause)),
	};
}

/** Keeps lines until they are forgotten. Takes none while it has a `failure`; they are safe once `sync`, if any, is. */
class ScriptedJournal {
	failure: Error | undefined;
	sync: PromiseWithResolvers<void> | undefined;
	readonly lines: string[] = [];
	tests = 0;

	append(line: string): void {
		if (this.failure !== undefined) throw this.failure;
		this.lines.push(line);
	}

	test(): void {
		this.tests += 1;
		if (this.failure !== undefined) throw this.failure;
	}

	whenSafe(): Promise<void> {
		return this.sync?.promise ?? Promise.resolve();
	}

	forget(count: number): void {
		if (count > this.lines.length) throw new Error('More is forgotten than there is');
		this.lines.splice(0, count);
	}

	get ids(): string {
		return this.lines.map((line) => readLine(line)[0]).join('');
	}
}

function setUp() {
	const clock = new ManualClock();
	const log = createRememberedLog();
	const disk = createScriptedWrites();
	const journal = new ScriptedJournal();
	const queue = new LedgerQueue({ write: disk.write, journal, clock, log, path: 'ledger.db' });
	return { clock, log, disk, journal, queue, ...callers(queue) };
}

/** Outcomes as they come: `open a: done`. */
function callers(queue: LedgerQueue) {
	const outcomes: string[] = [];
	const note = (what: string, promise: Promise<Closing | void>): void => {
		promise.then(
			(result) => outcomes.push(`${what}: ${result ?? 'done'}`),
			(cause: unknown) => outcomes.push(`${what}: ${cause instanceof Fault ? 'refused' : String(cause)}`),
		);
	};
	return {
		outcomes,
		open: (id: string) => note(`open ${id}`, queue.open(openRow(id))),
		close: (id: string) => note(`close ${id}`, queue.close(closedRow(id))),
		flush: (name: string) => note(`flush ${name}`, queue.flush()),
	};
}

const idsOfOpens = ({ opens }: WriteBatch): string[] => opens.map((line) => readLine(line)[0]);
const idsOfCloses = ({ closes }: WriteBatch): string[] => closes.map(([id]) => id);
const idsIn = (batch: WriteBatch): string => `${idsOfOpens(batch).join('')}|${idsOfCloses(batch).join('')}`;
const full = new Error('database or disk is full');

describe('batches', () => {
	test('an open is acknowledged once the journal has it; rows of some milliseconds, and those of a batch’s time, share a batch', async () => {
		const { disk, journal, open, close, outcomes } = setUp();
		open('a');
		open('b');
		await nextTurn();
		close('a');
		expect(outcomes).toEqual(['open a: done', 'open b: done']);
		expect([disk.batches.length, journal.ids]).toEqual([0, 'ab']);
		await until(() => disk.batches.length === 1);
		open('c');
		close('b');
		await nextTurn();
		expect(outcomes.slice(2)).toEqual(['open c: done']);
		await disk.commit();
		expect(outcomes.slice(3)).toEqual(['close a: closed']);
		expect(journal.ids).toBe('c');
		await disk.commit();
		expect(disk.batches.map(idsIn)).toEqual(['ab|a', 'c|b']);
		expect([outcomes.slice(4), journal.ids]).toEqual([['close b: closed'], '']);
	});

	test('an open waits for its sync, which no batch waits for', async () => {
		const { disk, journal, open, close, outcomes } = setUp();
		journal.sync = Promise.withResolvers();
		open('a');
		close('b');
		await disk.commit();
		expect(disk.batches.map(idsIn)).toEqual(['a|b']);
		expect(outcomes).toEqual(['close b: closed']);
		journal.sync.resolve();
		await nextTurn();
		expect(outcomes).toEqual(['close b: closed', 'open a: done']);
	});

	test('hold at most a thousand rows; no close goes before its open and no row twice, also where a batch fails', async () => {
		const { disk, clock, journal, queue } = setUp();
		const rows = 2500;
		for (let index = 0; index < rows + 300; index++) {
			if (index < rows) void queue.open(openRow(`${index}`));
			if (index >= 300) queue.close(closedRow(`${index - 300}`)).catch(() => undefined);
		}
		await disk.commit();
		await disk.fail(full);
		clock.advance(250);
		for (let round = 0; round < 4; round++) await disk.commit();
		const committed = disk.batches.filter((_, index) => index !== 1);
		expect(committed.map(({ opens, closes }) => opens.length + closes.length)).toEqual([1000, 1000, 1000, 1000, 1000]);
		const batchOf = (idsOf: typeof idsOfOpens) => new Map(committed.flatMap((batch, index) => idsOf(batch).map((id) => [id, index])));
		const [opened, closed] = [batchOf(idsOfOpens), batchOf(idsOfCloses)];
		expect([opened.size, closed.size, journal.lines.length]).toEqual([rows, rows, 0]);
		expect([...closed].filter(([id, index]) => index < (opened.get(id) ?? rows))).toEqual([]);
		expect(queue.health()).toMatchObject({ isWritable: true, queuedRows: 0, lostCloses: 0 });
	});

	test('what the database found odd is told to its caller alone; an open that cannot be stored is logged', async () => {
		const { disk, log, open, close, outcomes, queue } = setUp();
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
			'close d: refused',
			'open e: done',
			'open f: done',
		]);
		expect(log.lines.map(({ level, event, fields }) => `${level}: ${event}: ${String(fields['id'])}`).toSorted()).toEqual([
			'error: a ledger row cannot be stored: d',
			'error: a ledger row cannot be stored: f',
		]);
		const counts = { unknownCloses: 1, repeatedCloses: 1, rejectedRows: 1, lostCloses: 1 };
		expect(queue.health()).toEqual({ isWritable: true, queuedRows: 0, ...counts });
	});

	test('when too many rows wait, more are refused', async () => {
		const { disk, journal, queue, open, close, outcomes } = setUp();
		open('first');
		await until(() => disk.batches.length === 1);
		for (let index = 1; index < mostQueuedRows; index++) queue.open(openRow('x')).catch(() => undefined);
		open('a');
		close('b');
		await nextTurn();
		expect(outcomes).toEqual(['open first: done', 'open a: refused', 'close b: refused']);
		expect(journal.lines).toHaveLength(mostQueuedRows);
		expect(queue.health()).toMatchObject({ queuedRows: mostQueuedRows, rejectedRows: 2, lostCloses: 1, isWritable: true });
	});
});

describe('a flush', () => {
	test('sends what waits at once, and waits for nothing that comes later', async () => {
		const { disk, open, close, flush, outcomes } = setUp();
		flush('of nothing');
		await nextTurn();
		expect(outcomes.splice(0)).toEqual(['flush of nothing: done']);
		open('a');
		flush('one');
		expect(disk.batches.map(idsIn)).toEqual(['a|']);
		open('b');
		close('a');
		flush('two');
		flush('three');
		open('c');
		await disk.commit();
		expect(outcomes.filter((outcome) => outcome.startsWith('flush'))).toEqual(['flush one: done']);
		expect(disk.batches.slice(1).map(idsIn)).toEqual(['bc|a']);
		open('d');
		await disk.commit();
		expect(outcomes.filter((outcome) => outcome.startsWith('flush')).slice(1)).toEqual(['flush two: done', 'flush three: done']);
		await disk.commit();
		expect(disk.batches.slice(2).map(idsIn)).toEqual(['d|']);
	});

	test('of more than a batch waits for the last', async () => {
		const { disk, queue, flush, outcomes } = setUp();
		for (let index = 0; index < 1001; index++) void queue.open(openRow(`${index}`));
		flush('all');
		await disk.commit();
		expect(outcomes).toEqual([]);
		await disk.commit();
		expect(outcomes).toEqual(['flush all: done']);
	});

	test('of what cannot be written ends with the failure, and at once after it', async () => {
		const { disk, open, flush, outcomes, queue } = setUp();
		open('a');
		flush('one');
		await disk.fail(full);
		flush('two');
		await nextTurn();
		expect(outcomes).toEqual(['open a: done', 'flush one: done', 'flush two: done']);
		expect(queue.health()).toMatchObject({ isWritable: false, queuedRows: 1, rejectedRows: 0 });
	});

	test('of what a stalled disk has ends with the stall', async () => {
		const { clock, open, flush, outcomes } = setUp();
		open('a');
		flush('one');
		clock.advance(2999);
		await nextTurn();
		expect(outcomes).toEqual(['open a: done']);
		clock.advance(3000);
		await nextTurn();
		expect(outcomes).toEqual(['open a: done', 'flush one: done']);
	});
});

describe('the end', () => {
	test('waits for what was accepted, and takes no more', async () => {
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
		expect(disk.batches.map(idsIn)).toEqual(['a|', 'b|']);
		await disk.commit();
		await ending;
		expect(outcomes.toSorted()).toEqual(['open a: done', 'open b: done', 'open c: refused']);
		expect(clock.pending).toBe(0);
	});

	test('sends what rests at once', async () => {
		const { disk, queue, open, close } = setUp();
		open('a');
		close('a');
		const ending = queue.end();
		await new Promise((resolve) => setImmediate(resolve));
		expect(disk.batches.map(idsIn)).toEqual(['a|a']);
		await disk.commit();
		await ending;
	});

	test('of a ledger that cannot be written tries once more, says what is lost, and leaves opens to the journal', async () => {
		const { disk, queue, journal, open, close, log, clock } = setUp();
		open('a');
		close('b');
		await disk.fail(full);
		const ending = queue.end();
		await disk.fail(full);
		await ending;
		expect(disk.batches.map(idsIn)).toEqual(['a|b', 'a|b']);
		expect(journal.ids).toBe('a');
		expect(queue.health()).toMatchObject({ lostCloses: 1, queuedRows: 0 });
		expect(log.lines.map(({ event }) => event)).toEqual([
			'the ledger cannot be written',
			'ledger rows were not closed; the next start charges their holds',
		]);
		expect(clock.pending).toBe(0);
	});

	test('of a ledger that can be written again writes all that was kept', async () => {
		const { disk, queue, journal, open, close, clock } = setUp();
		for (let index = 0; index < 1500; index++) open(`${index}`);
		close('b');
		await disk.fail(full);
		const ending = queue.end();
		await disk.commit();
		await disk.commit();
		await ending;
		expect(disk.batches.map(({ opens, closes }) => [opens.length, closes.length])).toEqual([
			[1000, 0],
			[1000, 0],
			[500, 1],
		]);
		expect(journal.lines).toEqual([]);
		expect(queue.health()).toMatchObject({ isWritable: true, lostCloses: 0, queuedRows: 0 });
		expect(clock.pending).toBe(0);
	});

	test('of a ledger that cannot be written has one batch under way, however long that takes, and counts what is lost', async () => {
		const { disk, queue, close, clock } = setUp();
		close('a');
		await disk.fail(full);
		const ending = queue.end();
		clock.advance(1000);
		expect(disk.batches.map(idsIn)).toEqual(['|a', '|a']);
		await disk.fail(full);
		await ending;
		expect(queue.health()).toMatchObject({ lostCloses: 1, queuedRows: 0 });
	});

	test('waits for syncs, so that what is refused after one that failed is taken back', async () => {
		const { disk, journal, queue, open, outcomes } = setUp();
		journal.sync = Promise.withResolvers();
		open('a');
		let hasEnded = false;
		void queue.end().then(() => {
			hasEnded = true;
		});
		await disk.commit();
		expect(hasEnded).toBe(false);
		journal.sync.reject(new Error('EIO: i/o error, fdatasync'));
		await disk.commit();
		expect(outcomes).toEqual(['open a: refused']);
		expect(disk.batches.map(idsIn)).toEqual(['a|', '|a']);
		expect(hasEnded).toBe(true);
	});
});

describe('a database that fails', () => {
	test('refuses opens at once; all that was taken is kept, and tried again a quarter of a second later', async () => {
		const { disk, clock, journal, log, open, close, outcomes, queue } = setUp();
		open('a');
		close('b');
		await until(() => disk.batches.length === 1);
		open('c');
		close('d');
		await disk.fail(full);
		open('e');
		close('f');
		await nextTurn();
		expect(outcomes.toSorted()).toEqual([
			'close b: refused',
			'close d: refused',
			'close f: refused',
			'open a: done',
			'open c: done',
			'open e: refused',
		]);
		expect(queue.health()).toMatchObject({ isWritable: false, queuedRows: 5, rejectedRows: 4, lostCloses: 0 });
		clock.advance(249);
		expect(disk.batches).toHaveLength(1);
		clock.advance(1);
		await disk.fail(full);
		expect(queue.health()).toMatchObject({ isWritable: false, queuedRows: 5, rejectedRows: 4 });
		clock.advance(250);
		expect(journal.ids).toBe('ac');
		await disk.commit([{ of: 'closes', index: 2, what: 'unknown' }]);
		expect(disk.batches.slice(1).map(idsIn)).toEqual(['ac|bdf', 'ac|bdf']);
		const counts = { unknownCloses: 1, repeatedCloses: 0, rejectedRows: 4, lostCloses: 0 };
		expect(queue.health()).toEqual({ isWritable: true, queuedRows: 0, ...counts });
		expect(journal.ids).toBe('');
		expect(log.lines.map(({ level }) => level)).toEqual(['error', 'info']);
		open('g');
		await disk.commit();
		expect(outcomes).toContain('open g: done');
	});

	test('by its thread’s death has the batch sent again, and a close that was done then is closed', async () => {
		const { disk, log, open, close, outcomes, queue } = setUp();
		open('a');
		close('b');
		await disk.fail(new ThreadLost('it died'));
		expect(disk.batches.map(idsIn)).toEqual(['a|b', 'a|b']);
		await disk.commit([{ of: 'closes', index: 0, what: 'closed_before' }]);
		expect(outcomes).toEqual(['open a: done', 'close b: closed']);
		expect(log.lines.map(({ level }) => level)).toEqual(['warn']);
		expect(queue.health()).toMatchObject({ repeatedCloses: 0, rejectedRows: 0, isWritable: true });
	});

	test('by its thread’s second death is one that fails; what was acknowledged is sent again, not taken back', async () => {
		const { disk, clock, journal, open, close, outcomes, queue } = setUp();
		open('a');
		close('b');
		await disk.fail(new ThreadLost('it died'));
		await disk.fail(new ThreadLost('it died'));
		expect(outcomes).toEqual(['open a: done', 'close b: refused']);
		expect(queue.health().isWritable).toBe(false);
		clock.advance(250);
		expect(journal.ids).toBe('a');
		await disk.commit();
		expect(disk.batches.map(idsIn)).toEqual(['a|b', 'a|b', 'a|b']);
		expect(queue.health()).toMatchObject({ isWritable: true, queuedRows: 0, rejectedRows: 1 });
	});

	test('by silence refuses after three seconds, and what it wrote at last is not sent again; a probe finds that it is back', async () => {
		const { disk, clock, journal, log, open, close, outcomes, queue } = setUp();
		open('a');
		close('b');
		await until(() => disk.batches.length === 1);
		close('c');
		clock.advance(3000);
		open('d');
		close('e');
		await nextTurn();
		const closes = ['close b: refused', 'close c: refused', 'close e: refused'];
		expect(outcomes.toSorted()).toEqual([...closes, 'open a: done', 'open d: refused']);
		await disk.commit([{ of: 'closes', index: 0, what: 'failed' }]);
		expect([journal.ids, queue.health().isWritable]).toEqual(['', false]);
		clock.advance(250);
		await disk.commit();
		expect(disk.batches.map(idsIn)).toEqual(['a|b', '|ce']);
		expect(queue.health()).toMatchObject({ isWritable: true, queuedRows: 0, rejectedRows: 4, lostCloses: 1 });
		expect(log.lines.map(({ event }) => event)).toEqual([
			'the ledger cannot be written',
			'a ledger row cannot be stored',
			'the ledger is written again',
		]);
	});

	test('by silence and then by an error has the batch kept', async () => {
		const { disk, clock, open, close, queue } = setUp();
		open('a');
		close('b');
		await until(() => disk.batches.length === 1);
		clock.advance(3000);
		await disk.fail(full);
		clock.advance(250);
		await disk.commit();
		expect(disk.batches.map(idsIn)).toEqual(['a|b', 'a|b']);
		expect(queue.health()).toMatchObject({ isWritable: true, queuedRows: 0, rejectedRows: 1, lostCloses: 0 });
	});
});

describe('a journal that fails', () => {
	test('has opens refused until it takes a test and the database an empty batch', async () => {
		const { disk, clock, journal, log, open, outcomes, queue } = setUp();
		journal.failure = full;
		open('a');
		open('b');
		await nextTurn();
		expect(outcomes).toEqual(['open a: refused', 'open b: refused']);
		clock.advance(250);
		clock.advance(250);
		expect([journal.tests, disk.batches.length]).toEqual([2, 0]);
		journal.failure = undefined;
		open('c');
		clock.advance(250);
		expect(queue.health()).toMatchObject({ isWritable: false, queuedRows: 0, rejectedRows: 3 });
		await disk.commit();
		open('d');
		await disk.commit();
		expect(disk.batches.map(idsIn)).toEqual(['|', 'd|']);
		expect(outcomes.slice(2)).toEqual(['open c: refused', 'open d: done']);
		expect(queue.health()).toMatchObject({ isWritable: true, rejectedRows: 3 });
		expect(log.lines.map(({ level }) => level)).toEqual(['error', 'info']);
	});

	test('while a batch is under way is not recovered from by that batch, and nobody is refused twice', async () => {
		const { disk, clock, journal, open, close, outcomes, queue } = setUp();
		open('a');
		close('a');
		await until(() => disk.batches.length === 1);
		journal.failure = full;
		open('b');
		await nextTurn();
		expect(outcomes.toSorted()).toEqual(['close a: refused', 'open a: done', 'open b: refused']);
		await disk.commit();
		expect([journal.ids, queue.health().isWritable]).toEqual(['', false]);
		clock.advance(250);
		expect(disk.batches).toHaveLength(1);
		journal.failure = undefined;
		clock.advance(250);
		await disk.commit();
		expect(disk.batches.map(idsIn)).toEqual(['a|a', '|']);
		expect(queue.health()).toMatchObject({ isWritable: true, queuedRows: 0, rejectedRows: 2, lostCloses: 0 });
	});

	test('to sync has each open that waited for it refused, and its row closed free of charge', async () => {
		const { disk, clock, journal, log, open, close, outcomes, queue } = setUp();
		journal.sync = Promise.withResolvers();
		open('a');
		await disk.commit();
		open('b');
		close('c');
		journal.sync.reject(new Error('EIO: i/o error, fdatasync'));
		await nextTurn();
		expect(outcomes.toSorted()).toEqual(['close c: refused', 'open a: refused', 'open b: refused']);
		expect(queue.health()).toMatchObject({ isWritable: false, queuedRows: 4, rejectedRows: 3 });
		clock.advance(250);
		await disk.commit();
		expect(disk.batches.map(idsIn)).toEqual(['a|', 'b|cab']);
		const { startedMs } = openRow('a');
		expect(disk.batches[1]?.closes.slice(1)).toEqual(['a', 'b'].map((id) => [id, startedMs, 5, 503, 0, 0, 0, 0, 0, 0, 0, 0]));
		expect(queue.health()).toMatchObject({ isWritable: true, queuedRows: 0, rejectedRows: 3, lostCloses: 0 });
		expect(log.lines.map(({ level }) => level)).toEqual(['error', 'info']);
	});
});
