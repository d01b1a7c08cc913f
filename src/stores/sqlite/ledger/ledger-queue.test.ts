import { describe, expect, test, vi } from 'vitest';
import { closeEntry } from '../../../../test/support/close-entry.ts';
import { full, idsIn, idsOfCloses, idsOfOpens, nextTick, startLedgerQueue } from '../../../../test/support/ledger-queue-under-test.ts';
import { until } from '../../../../test/support/until.ts';
import { closedEntry, openEntry } from '../../contracts/ledger.contract.ts';
import { maxQueuedEntries } from './ledger-queue.ts';

describe('batches', () => {
	test('an open is acknowledged once the journal has it; entries of some milliseconds, and those of a batch’s time, share a batch', async () => {
		const { disk, journal, open, close, outcomes } = startLedgerQueue();
		open('a');
		open('b');
		await nextTick();
		close('a');
		expect(outcomes).toEqual(['open a: done', 'open b: done']);
		expect([disk.batches.length, journal.ids]).toEqual([0, 'ab']);
		await until(() => disk.batches.length === 1);
		open('c');
		close('b');
		await nextTick();
		expect(outcomes.slice(2)).toEqual(['open c: done']);
		await disk.commit();
		expect(outcomes.slice(3)).toEqual(['close a: closed']);
		expect(journal.ids).toBe('c|b');
		await disk.commit();
		expect(disk.batches.map(idsIn)).toEqual(['ab|a', 'c|b']);
		expect([outcomes.slice(4), journal.ids]).toEqual([['close b: closed'], '']);
	});

	test('an open waits for its sync, which no batch waits for', async () => {
		const { disk, journal, open, close, outcomes } = startLedgerQueue();
		journal.sync = Promise.withResolvers();
		open('a');
		close('b');
		await disk.commit();
		expect(disk.batches.map(idsIn)).toEqual(['a|b']);
		expect(outcomes).toEqual(['close b: closed']);
		journal.sync.resolve();
		await nextTick();
		expect(outcomes).toEqual(['close b: closed', 'open a: done']);
	});

	test('contain at most a thousand entries; no close is sent before its open and no entry twice, also if a batch fails', async () => {
		const { disk, clock, journal, queue } = startLedgerQueue();
		const rows = 2500;
		for (let index = 0; index < rows + 300; index++) {
			if (index < rows) void queue.open(openEntry(`${index}`));
			if (index >= 300) closeEntry(queue, closedEntry(`${index - 300}`)).catch(() => undefined);
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
		expect(queue.health()).toMatchObject({ isWritable: true, queuedEntries: 0, lostCloses: 0 });
	});

	test.each([
		[999, 1],
		[1000, 2],
	])('of %d entries that wait behind a batch, a whole batch goes without a rest: %d batches', async (rows, batches) => {
		// The rest never ends.
		vi.useFakeTimers({ toFake: ['setTimeout'] });
		try {
			const { disk, open, queue } = startLedgerQueue();
			open('first');
			void queue.flush();
			for (let index = 0; index < rows; index++) void queue.open(openEntry(`${index}`));
			await disk.commit();
			expect(disk.batches).toHaveLength(batches);
			expect(queue.health().queuedEntries).toBe(rows);
		} finally {
			vi.useRealTimers();
		}
	});

	test('an exception of the database is reported only to its caller; an open that cannot be stored is logged', async () => {
		const { disk, log, open, close, outcomes, queue } = startLedgerQueue();
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
			'error: a ledger entry cannot be stored: d',
			'error: a ledger entry cannot be stored: f',
		]);
		const counts = { unknownCloses: 1, repeatedCloses: 1, rejectedEntries: 1, lostCloses: 1 };
		expect(queue.health()).toEqual({ isWritable: true, queuedEntries: 0, ...counts });
	});

	test('when too many entries wait, opens are rejected, and closes are not', async () => {
		const { disk, journal, queue, open, close, outcomes } = startLedgerQueue();
		open('first');
		await until(() => disk.batches.length === 1);
		for (let index = 1; index < maxQueuedEntries; index++) void queue.open(openEntry('x'));
		open('a');
		close('b');
		await nextTick();
		expect(outcomes).toEqual(['open first: done', 'open a: refused']);
		expect(journal.lines).toHaveLength(maxQueuedEntries + 1);
		expect(queue.health()).toMatchObject({ queuedEntries: maxQueuedEntries + 1, rejectedEntries: 1, lostCloses: 0, isWritable: true });
	});
});

describe('a flush', () => {
	test('sends what waits at once, and waits for nothing that comes later', async () => {
		const { disk, open, close, flush, outcomes } = startLedgerQueue();
		flush('of nothing');
		await nextTick();
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
		const { disk, queue, flush, outcomes } = startLedgerQueue();
		for (let index = 0; index < 1001; index++) void queue.open(openEntry(`${index}`));
		flush('all');
		await disk.commit();
		expect(outcomes).toEqual([]);
		await disk.commit();
		expect(outcomes).toEqual(['flush all: done']);
	});

	test('of what cannot be written ends with the failure, and at once after it', async () => {
		const { disk, open, flush, outcomes, queue } = startLedgerQueue();
		open('a');
		flush('one');
		await disk.fail(full);
		flush('two');
		await nextTick();
		expect(outcomes.toSorted()).toEqual(['flush one: done', 'flush two: done', 'open a: done']);
		expect(queue.health()).toMatchObject({ isWritable: false, queuedEntries: 1, rejectedEntries: 0 });
	});

	test('of what a stalled disk has ends with the stall', async () => {
		const { clock, open, flush, outcomes } = startLedgerQueue();
		open('a');
		flush('one');
		clock.advance(2999);
		await nextTick();
		expect(outcomes).toEqual(['open a: done']);
		clock.advance(3000);
		await nextTick();
		expect(outcomes).toEqual(['open a: done', 'flush one: done']);
	});
});

describe('the end', () => {
	test('waits for what was accepted, and takes no more', async () => {
		const { disk, queue, open, outcomes, clock } = startLedgerQueue();
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
		const { disk, queue, open, close } = startLedgerQueue();
		open('a');
		close('a');
		const ending = queue.end();
		await new Promise((resolve) => setImmediate(resolve));
		expect(disk.batches.map(idsIn)).toEqual(['a|a']);
		await disk.commit();
		await ending;
	});

	test('of a ledger that cannot be written tries once more, and leaves opens and closes to the journal', async () => {
		const { disk, queue, journal, open, close, log, clock } = startLedgerQueue();
		open('a');
		close('b');
		await disk.fail(full);
		const ending = queue.end();
		await disk.fail(full);
		await ending;
		expect(disk.batches.map(idsIn)).toEqual(['a|b', 'a|b']);
		expect(journal.ids).toBe('a|b');
		expect(queue.health()).toMatchObject({ lostCloses: 0, queuedEntries: 0 });
		expect(log.lines.map(({ event }) => event)).toEqual([
			'the ledger cannot be written',
			'ledger entries are in the journal; the next start closes them',
		]);
		expect(clock.pending).toBe(0);
	});

	test('of a ledger that can be written again writes all that was kept', async () => {
		const { disk, queue, journal, open, close, clock } = startLedgerQueue();
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
		expect(queue.health()).toMatchObject({ isWritable: true, lostCloses: 0, queuedEntries: 0 });
		expect(clock.pending).toBe(0);
	});

	test('of a ledger that cannot be written has one batch in flight, however long that takes, and counts lost entries', async () => {
		const { disk, queue, journal, log, close, clock } = startLedgerQueue();
		close('a');
		await disk.fail(full);
		journal.failure = full;
		close('b');
		await nextTick();
		const ending = queue.end();
		clock.advance(1000);
		expect(disk.batches.map(idsIn)).toEqual(['|a', '|ab']);
		await disk.fail(full);
		await ending;
		expect(queue.health()).toMatchObject({ lostCloses: 1, queuedEntries: 0 });
		expect(log.lines.map(({ event, fields }) => [event, fields['entries']]).slice(1)).toEqual([
			['ledger entries were not closed; the next start charges their reservations', 1],
			['ledger entries are in the journal; the next start closes them', 1],
		]);
	});

	test('waits for syncs, so that opens rejected by a failed one are voided', async () => {
		const { disk, journal, queue, open, outcomes } = startLedgerQueue();
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
