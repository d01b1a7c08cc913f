import { describe, expect, test } from 'vitest';
import { full, idsIn, nextTick, startLedgerQueue } from '../../../../test/support/ledger-queue-under-test.ts';
import { until } from '../../../../test/support/until.ts';
import { closedEntry, openEntry } from '../../contracts/ledger.contract.ts';
import { ThreadLost } from '../../store-thread.ts';

describe('a database that fails', () => {
	test('rejects opens at once; accepted entries are kept, and retried a quarter of a second later', async () => {
		const { disk, clock, journal, log, open, close, outcomes, queue } = startLedgerQueue();
		open('a');
		close('b');
		await until(() => disk.batches.length === 1);
		open('c');
		close('d');
		await disk.fail(full);
		open('e');
		close('f');
		await nextTick();
		expect(outcomes.toSorted()).toEqual([
			'close b: refused',
			'close d: refused',
			'close f: refused',
			'open a: done',
			'open c: done',
			'open e: refused',
		]);
		expect(queue.health()).toMatchObject({ isWritable: false, queuedEntries: 5, rejectedEntries: 4, lostCloses: 0 });
		clock.advance(249);
		expect(disk.batches).toHaveLength(1);
		clock.advance(1);
		await disk.fail(full);
		expect(queue.health()).toMatchObject({ isWritable: false, queuedEntries: 5, rejectedEntries: 4 });
		clock.advance(250);
		expect(journal.ids).toBe('ac|bdf');
		await disk.commit([{ of: 'closes', index: 2, what: 'unknown' }]);
		expect(disk.batches.slice(1).map(idsIn)).toEqual(['ac|bdf', 'ac|bdf']);
		const counts = { unknownCloses: 1, repeatedCloses: 0, rejectedEntries: 4, lostCloses: 0 };
		expect(queue.health()).toEqual({ isWritable: true, queuedEntries: 0, ...counts });
		expect(journal.ids).toBe('');
		expect(log.lines.map(({ level }) => level)).toEqual(['error', 'info']);
		open('g');
		await disk.commit();
		// No listener is called a second time.
		expect(outcomes.slice(6)).toEqual(['open g: done']);
	});

	test('by its thread’s death has the batch sent again, and a close that was done then is closed', async () => {
		const { disk, log, open, close, outcomes, queue } = startLedgerQueue();
		open('a');
		close('b');
		await disk.fail(new ThreadLost('it died'));
		expect(disk.batches.map(idsIn)).toEqual(['a|b', 'a|b']);
		await disk.commit([{ of: 'closes', index: 0, what: 'closed_before' }]);
		expect(outcomes).toEqual(['open a: done', 'close b: closed']);
		expect(log.lines.map(({ level }) => level)).toEqual(['warn']);
		expect(queue.health()).toMatchObject({ repeatedCloses: 0, rejectedEntries: 0, isWritable: true });
	});

	test('by its thread’s second death is one that fails; acknowledged entries are sent again, not voided', async () => {
		const { disk, clock, journal, open, close, outcomes, queue } = startLedgerQueue();
		open('a');
		close('b');
		await disk.fail(new ThreadLost('it died'));
		await disk.fail(new ThreadLost('it died'));
		expect(outcomes).toEqual(['open a: done', 'close b: refused']);
		expect(queue.health().isWritable).toBe(false);
		clock.advance(250);
		expect(journal.ids).toBe('a|b');
		await disk.commit();
		expect(disk.batches.map(idsIn)).toEqual(['a|b', 'a|b', 'a|b']);
		expect(queue.health()).toMatchObject({ isWritable: true, queuedEntries: 0, rejectedEntries: 1 });
	});

	test('by silence rejects after three seconds, and does not send again what was written late; a probe detects the recovery', async () => {
		const { disk, clock, journal, log, open, close, outcomes, queue } = startLedgerQueue();
		open('a');
		close('b');
		await until(() => disk.batches.length === 1);
		close('c');
		clock.advance(3000);
		open('d');
		close('e');
		await nextTick();
		const closes = ['close b: refused', 'close c: refused', 'close e: refused'];
		expect(outcomes.toSorted()).toEqual([...closes, 'open a: done', 'open d: refused']);
		await disk.commit([{ of: 'closes', index: 0, what: 'failed' }]);
		expect([journal.ids, queue.health().isWritable]).toEqual(['|ce', false]);
		clock.advance(250);
		await disk.commit();
		expect(disk.batches.map(idsIn)).toEqual(['a|b', '|ce']);
		expect(queue.health()).toMatchObject({ isWritable: true, queuedEntries: 0, rejectedEntries: 4, lostCloses: 1 });
		expect(log.lines.map(({ event }) => event)).toEqual([
			'the ledger cannot be written',
			'a ledger entry cannot be stored',
			'the ledger is writable again',
		]);
	});

	test('by silence and then by an error has the batch kept', async () => {
		const { disk, clock, open, close, queue } = startLedgerQueue();
		open('a');
		close('b');
		await until(() => disk.batches.length === 1);
		clock.advance(3000);
		await disk.fail(full);
		clock.advance(250);
		await disk.commit();
		expect(disk.batches.map(idsIn)).toEqual(['a|b', 'a|b']);
		expect(queue.health()).toMatchObject({ isWritable: true, queuedEntries: 0, rejectedEntries: 1, lostCloses: 0 });
	});
});

describe('a journal that fails', () => {
	test('rejects all opens of its turn before they leave, and later ones until it passes a test and the database commits an empty batch', async () => {
		const { disk, clock, journal, log, open, outcomes, queue } = startLedgerQueue();
		journal.failure = full;
		open('a');
		open('b');
		await nextTick();
		expect(outcomes).toEqual(['open a: refused', 'open b: refused']);
		expect(queue.health()).toMatchObject({ isWritable: false, queuedEntries: 2, rejectedEntries: 2 });
		clock.advance(250);
		// The callers close what they opened.
		await disk.commit();
		clock.advance(250);
		expect([journal.tests, disk.batches.length]).toEqual([2, 1]);
		journal.failure = undefined;
		open('c');
		clock.advance(250);
		expect(queue.health()).toMatchObject({ isWritable: false, queuedEntries: 0, rejectedEntries: 3 });
		await disk.commit();
		open('d');
		await disk.commit();
		expect(disk.batches.map(idsIn)).toEqual(['ab|', '|', 'd|']);
		expect(outcomes.slice(2)).toEqual(['open c: refused', 'open d: done']);
		expect(queue.health()).toMatchObject({ isWritable: true, rejectedEntries: 3 });
		expect(log.lines.map(({ level }) => level)).toEqual(['error', 'info']);
	});

	test('is tried again after a quarter of a second, however many requests end meanwhile', async () => {
		const { disk, clock, journal, open, close } = startLedgerQueue();
		journal.failure = full;
		open('a');
		await nextTick();
		for (const id of ['b', 'c', 'd']) {
			clock.advance(80);
			close(id);
			await nextTick();
		}
		expect(disk.batches).toHaveLength(0);
		clock.advance(10);
		expect(disk.batches.map(idsIn)).toEqual(['a|bcd']);
	});

	test('during a batch does not end with that batch, and rejects no caller twice', async () => {
		const { disk, clock, journal, open, close, outcomes, queue } = startLedgerQueue();
		open('a');
		close('a');
		await until(() => disk.batches.length === 1);
		journal.failure = full;
		open('b');
		await nextTick();
		expect(outcomes.toSorted()).toEqual(['close a: refused', 'open a: done', 'open b: refused']);
		await disk.commit();
		expect([journal.ids, queue.health().isWritable]).toEqual(['b', false]);
		clock.advance(250);
		await disk.commit();
		expect([journal.ids, queue.health().isWritable]).toEqual(['', false]);
		journal.failure = undefined;
		clock.advance(250);
		await disk.commit();
		expect(disk.batches.map(idsIn)).toEqual(['a|a', 'b|', '|']);
		expect(queue.health()).toMatchObject({ isWritable: true, queuedEntries: 0, rejectedEntries: 2, lostCloses: 0 });
	});

	test('just before a batch is sent starts no second one, however slow the database is', async () => {
		const { disk, clock, journal, open, flush, outcomes, queue } = startLedgerQueue();
		journal.failure = full;
		open('a');
		flush('one');
		await nextTick();
		expect(outcomes.toSorted()).toEqual(['flush one: done', 'open a: refused']);
		journal.failure = undefined;
		clock.advance(300);
		await nextTick();
		expect(disk.batches.map(idsIn)).toEqual(['a|']);
		await disk.commit();
		expect(journal.ids).toBe('');
		clock.advance(250);
		await disk.commit();
		expect(disk.batches.map(idsIn)).toEqual(['a|', '|']);
		expect(queue.health()).toMatchObject({ isWritable: true, queuedEntries: 0 });
	});

	test('and is back before the sync ends: an entry voided then is written without another request', async () => {
		const { disk, clock, journal, open, outcomes, queue } = startLedgerQueue();
		journal.sync = Promise.withResolvers();
		journal.failure = full;
		open('a');
		await nextTick();
		journal.failure = undefined;
		clock.advance(250);
		await disk.commit();
		expect(queue.health()).toMatchObject({ isWritable: true, queuedEntries: 0 });
		await new Promise((resolve) => setTimeout(resolve, 60));
		journal.sync.resolve();
		await until(() => disk.batches.length === 2);
		await disk.commit();
		expect(disk.batches.map(idsIn)).toEqual(['a|', '|a']);
		expect(outcomes).toEqual(['open a: refused']);
		expect(queue.health()).toMatchObject({ isWritable: true, queuedEntries: 0 });
	});

	test('with durability power voids the entry of a rejected open', async () => {
		const { disk, clock, journal, open, outcomes } = startLedgerQueue();
		journal.sync = Promise.withResolvers();
		journal.sync.resolve();
		journal.failure = full;
		open('a');
		await nextTick();
		expect(outcomes).toEqual(['open a: refused']);
		clock.advance(250);
		await disk.commit();
		expect(disk.batches.map(idsIn)).toEqual(['a|a']);
	});

	test('to sync rejects each open that waited for it, and closes its entry free of charge', async () => {
		const { disk, clock, journal, log, open, close, outcomes, queue } = startLedgerQueue();
		journal.sync = Promise.withResolvers();
		open('a');
		await disk.commit();
		open('b');
		close('c');
		journal.sync.reject(new Error('EIO: i/o error, fdatasync'));
		await nextTick();
		expect(outcomes.toSorted()).toEqual(['close c: refused', 'open a: refused', 'open b: refused']);
		expect(queue.health()).toMatchObject({ isWritable: false, queuedEntries: 4, rejectedEntries: 3 });
		clock.advance(250);
		await disk.commit();
		expect(disk.batches.map(idsIn)).toEqual(['a|', 'b|cab']);
		const { startedMs } = openEntry('a');
		expect(disk.batches[1]?.closes.slice(1)).toEqual(['a', 'b'].map((id) => [id, startedMs, 5, 503, 0, 0, 0, 0, 0, 0, 0, 0]));
		expect(queue.health()).toMatchObject({ isWritable: true, queuedEntries: 0, rejectedEntries: 3, lostCloses: 0 });
		expect(log.lines.map(({ level }) => level)).toEqual(['error', 'info']);
	});
});

describe('a listener to a close that throws', () => {
	const faulty = (): void => {
		throw new TypeError('a listener');
	};

	test('does not keep the next batch from being written', async () => {
		const { disk, log, queue, open, close, outcomes } = startLedgerQueue();
		open('a');
		queue.close(closedEntry('b'), faulty);
		close('c');
		await disk.commit();
		open('d');
		await disk.commit();
		expect(outcomes).toEqual(['open a: done', 'close c: closed', 'open d: done']);
		expect(log.lines).toMatchObject([{ level: 'error', event: 'internal error' }]);
	});

	test('does not keep a database that fails from being tried again, nor rejected requests from being rejected', async () => {
		const { disk, clock, journal, queue, open, outcomes } = startLedgerQueue();
		queue.close(closedEntry('a'), faulty);
		await until(() => disk.batches.length === 1);
		journal.failure = full;
		queue.close(closedEntry('b'), faulty);
		open('c');
		await nextTick();
		expect(outcomes).toEqual(['open c: refused']);
		journal.failure = undefined;
		await disk.fail(full);
		clock.advance(250);
		await disk.commit();
		expect(queue.health().isWritable).toBe(true);
	});
});
