import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { closedEntry, ledgerNoonMs, openEntry } from '../../contracts/ledger.contract.ts';
import type { ClosedEntry, OpenEntry } from '../../contracts/ledger.ts';
import { migrate } from '../migrate.ts';
import { compactClose, lineOf, readLine } from './compact-entries.ts';
import { createLedgerCheck } from './ledger-check.ts';
import type { EntryException, WriteBatch } from './ledger-operations.ts';
import { ledgerSchema } from './ledger-schema.ts';
import { createLedgerWriter } from './ledger-writer.ts';
import { packBatch } from './packed-batch.ts';

const ours = 'req_0123456789ab0123456789abcdef0123';
const hourMs = 3_600_000;
const other = { provider: 'provider_b', model: 'other', reservedNanoUsd: 77n, priceVersion: 'v2', budgets: ['all'] };

const open = (id: string, differences: Partial<OpenEntry> = {}): string => lineOf(openEntry(id, differences));
const close = (id: string, differences: Partial<ClosedEntry> = {}) => compactClose(closedEntry(id, differences));

describe('an entry that is opened and closed in one batch', () => {
	test.each([ours, 'somebody’s'])('is as if it was opened in one and closed in the next: %s', (id) => {
		const [one, two] = [setUp(), setUp()];
		expect(one.write({ opens: [open(id)], closes: [close(id)] })).toEqual([]);
		expect(two.write({ opens: [open(id)], closes: [] })).toEqual([]);
		expect(two.write({ opens: [], closes: [close(id)] })).toEqual([]);
		expect(one.dump()).toEqual(two.dump());
		expect(one.dump().requests).toHaveLength(1);
		expect(one.check()).toEqual([]);
		// Rows noted for PostgreSQL: the current row, once or twice.
		expect([one.noted(), two.noted()]).toEqual([[1], [1, 1]]);
	});

	test.each([ours, 'somebody’s'])('is noted at its end; one that runs or moves, when it was opened for that: %s', (id) => {
		const { write, database } = setUp();
		const again = { ...other, startedMs: ledgerNoonMs + 3 };
		const opens = [open('runs', { startedMs: ledgerNoonMs + 1 }), open(id, { startedMs: ledgerNoonMs + 2 }), open('runs', again)];
		write({ opens, closes: [close(id, { endedMs: ledgerNoonMs + 4 })] });
		write({ opens: [], closes: [close('runs', { endedMs: ledgerNoonMs + 5 })] });
		expect(database.prepare('SELECT call, noted_ms - ? AS ms FROM outbox ORDER BY position').all(ledgerNoonMs)).toEqual([
			{ call: 1, ms: 1 },
			{ call: 2, ms: 4 },
			{ call: 1, ms: 3 },
			{ call: 1, ms: 5 },
		]);
	});

	test.each([ours, 'somebody’s'])('and moved by a second open in between has the second target, and counts there: %s', (id) => {
		const { write, database, check } = setUp();
		expect(write({ opens: [open(id), open('stays'), open(id, other)], closes: [close(id), close('stays')] })).toEqual([]);
		expect(
			database
				.prepare(`
					SELECT (SELECT name FROM names WHERE id = provider) AS provider, (SELECT name FROM names WHERE id = price_version) AS price,
						(SELECT name FROM names WHERE id = budgets) AS budgets, hold_nano_usd AS hold, outcome FROM calls ORDER BY sequence`)
				.all(),
		).toEqual([
			{ provider: 'provider_b', price: 'v2', budgets: '["all"]', hold: 77, outcome: 0 },
			{ provider: 'provider_a', price: 'default:2026-11-01', budgets: '["red"]', hold: 5000, outcome: 0 },
		]);
		expect(
			database
				.prepare('SELECT (SELECT name FROM names WHERE id = provider) AS provider, requests, cost_nano_usd AS cost FROM hourly ORDER BY 1')
				.all(),
		).toEqual([
			{ provider: 'provider_a', requests: 1, cost: 1234 },
			{ provider: 'provider_b', requests: 1, cost: 1234 },
		]);
		expect(check()).toEqual([]);
	});

	test('and was open for another target before moves first', () => {
		const { write, database, check } = setUp();
		write({ opens: [open('one')], closes: [] });
		expect(write({ opens: [open('one', other)], closes: [close('one')] })).toEqual([]);
		expect(database.prepare('SELECT hold_nano_usd AS hold, outcome FROM calls').all()).toEqual([{ hold: 77, outcome: 0 }]);
		expect(database.prepare('SELECT requests, cost_nano_usd AS cost FROM hourly').all()).toEqual([{ requests: 1, cost: 1234 }]);
		expect(check()).toEqual([]);
	});

	test('twice is closed by the first', () => {
		const { write, database } = setUp();
		const closes = [close('one', { costNanoUsd: 1n }), close('one', { costNanoUsd: 2n })];
		expect(write({ opens: [open('one')], closes })).toEqual([{ of: 'closes', index: 1, what: 'closed_before' }]);
		expect(database.prepare('SELECT cost_nano_usd AS cost FROM calls').all()).toEqual([{ cost: 1 }]);
	});

	test('and whose end cannot be stored stays open, and takes no other with it', () => {
		const { write, database, check } = setUp();
		const closes = [close('a'), close('b', { endedMs: 0.5 }), close('c')];
		expect(write({ opens: ['a', 'b', 'c'].map((id) => open(id)), closes })).toEqual([{ of: 'closes', index: 1, what: 'failed' }]);
		expect(database.prepare('SELECT id, outcome FROM calls ORDER BY id').all()).toEqual([
			{ id: 'a', outcome: 0 },
			{ id: 'b', outcome: null },
			{ id: 'c', outcome: 0 },
		]);
		expect(check()).toEqual([]);
	});
});

test('batches of any entries have the same result as single entries', () => {
	// Some share the characters that are hashed, some are generated ids.
	const ids = ['x-12345678', 'y-12345678', 'z-12345678', 'short', ours, ours.replace('req_0', 'req_1'), ours.toUpperCase()];
	const target = fc.constantFrom({}, other, { model: 'third' });
	const opened = fc.record({ id: fc.constantFrom(...ids), target, hour: fc.nat(2) });
	const closed = fc.record({ id: fc.constantFrom(...ids), cost: fc.nat(5) });
	const batch = fc.record({ opens: fc.array(opened, { maxLength: 6 }), closes: fc.array(closed, { maxLength: 6 }) });
	fc.assert(
		fc.property(fc.array(batch, { maxLength: 4 }), fc.boolean(), (batches, spools) => {
			const [together, alone] = [setUp(spools), setUp(spools)];
			for (const { opens, closes } of batches) {
				const lines = opens.map(({ id, target: to, hour }) => open(id, { ...to, startedMs: ledgerNoonMs - hour * hourMs }));
				const ends = closes.map(({ id, cost }) => close(id, { costNanoUsd: BigInt(cost) }));
				const found = together.write({ opens: lines, closes: ends });
				for (const line of lines) alone.write({ opens: [line], closes: [] });
				const expected = ends.flatMap((end, index) =>
					alone.write({ opens: [], closes: [end] }).map((exception): EntryException => ({ ...exception, index })),
				);
				expect(found).toEqual(expected);
			}
			expect(together.dump()).toEqual(alone.dump());
			expect(together.check()).toEqual([]);
			expect(new Set(together.noted())).toEqual(new Set(alone.noted()));
		}),
		{ numRuns: 300 },
	);
});

test('of many entries in one batch those that are there already move, and all others are put in, in their order', () => {
	const ids = Array.from({ length: 50 }, (_, place) => `req_${place.toString(16).padStart(32, '0')}`);
	const place = fc.nat(ids.length - 1);
	fc.assert(
		fc.property(fc.uniqueArray(place), fc.uniqueArray(place), fc.boolean(), (before, closed, spools) => {
			const [together, alone] = [setUp(spools), setUp(spools)];
			for (const one of [together, alone]) one.write({ opens: before.map((at) => open(ids[at] ?? '')), closes: [] });
			const opens = ids.map((id) => open(id, other));
			const closes = closed.map((at) => close(ids[at] ?? ''));
			expect(together.write({ opens, closes })).toEqual([]);
			for (const line of opens) alone.write({ opens: [line], closes: [] });
			alone.write({ opens: [], closes });
			expect(together.dump()).toEqual(alone.dump());
			expect(together.check()).toEqual([]);
			expect(new Set(together.noted())).toEqual(new Set(alone.noted()));
			// A row that is inserted with its end is noted once.
			const closedLater = closed.filter((at) => before.includes(at)).length;
			expect(together.noted()).toHaveLength(spools ? before.length + ids.length + closedLater : 0);
		}),
		{ numRuns: 50 },
	);
});

test('an entry that cannot be stored takes none of many others with it', () => {
	const { write, database, check } = setUp();
	const ids = Array.from({ length: 40 }, (_, place) => `${ours.slice(0, -2)}${place + 10}`);
	const closes = ids.map((id, place) => close(id, place === 20 ? { endedMs: 0.5 } : {}));
	expect(write({ opens: ids.map((id) => open(id)), closes })).toEqual([{ of: 'closes', index: 20, what: 'failed' }]);
	expect(database.prepare('SELECT count(*) AS rows, count(outcome) AS closed FROM calls').get()).toEqual({ rows: 40, closed: 39 });
	expect(check()).toEqual([]);
});

test('names that went with a transaction which failed are given new numbers', () => {
	const { write, database, check } = setUp();
	database.exec(`CREATE TRIGGER full BEFORE INSERT ON hourly BEGIN SELECT RAISE(ABORT, 'full'); END`);
	expect(write({ opens: [open(ours)], closes: [] })).toEqual([{ of: 'opens', index: 0, what: 'failed' }]);
	database.exec('DROP TRIGGER full');
	expect(write({ opens: [open('first', other), open(ours)], closes: [] })).toEqual([]);
	expect(database.prepare('SELECT (SELECT name FROM names WHERE id = model) AS model FROM calls ORDER BY sequence').all()).toEqual([
		{ model: 'other' },
		{ model: openEntry(ours).model },
	]);
	expect(check()).toEqual([]);
});

test('sums beyond what a number holds are exact', () => {
	const { write, database, check } = setUp();
	const costs = [BigInt(Number.MAX_SAFE_INTEGER), 2n, 2n ** 62n, 1n];
	const ids = costs.map((_, place) => `id-${place}`);
	const closes = ids.map((id, place) => close(id, { costNanoUsd: costs[place] ?? 0n }));
	expect(write({ opens: ids.map((id) => open(id)), closes })).toEqual([]);
	const select = database.prepare('SELECT sum(cost_nano_usd) AS cost FROM hourly');
	select.setReadBigInts(true);
	expect(select.get()).toEqual({ cost: costs.reduce((sum, cost) => sum + cost) });
	expect(check()).toEqual([]);
});

test('a batch that is repeated after it was committed changes nothing', () => {
	const { write, dump, check, noted } = setUp();
	const opens = [open('a'), open(ours), open('moves'), open('moves', other), open('running'), open('stays', other)];
	const batch = { opens, closes: [close('a'), close(ours), close('moves'), close('ghost')] };
	expect(write(batch)).toEqual([{ of: 'closes', index: 3, what: 'unknown' }]);
	const [before, notedBefore] = [dump(), noted()];
	expect(write(batch).map(({ what }) => what)).toEqual(['closed_before', 'closed_before', 'closed_before', 'unknown']);
	expect(dump()).toEqual(before);
	expect(noted()).toEqual(notedBefore);
	expect(check()).toEqual([]);
});

describe('entries of another run', () => {
	const remaining = [open('a'), open('b'), open(ours, other)].map(readLine);

	test('are opened where they are missing, and closed as that run’s', () => {
		const { writer, database, check } = setUp();
		writer.write(packBatch({ opens: [open('a')], closes: [close('a')] }));
		writer.takeOver('dead', { opens: remaining, closes: [] });
		const interrupted = writer.closeInterrupted(ledgerNoonMs + hourMs, (name) => name === 'run');
		expect(interrupted.map(({ id, costNanoUsd }) => [id, costNanoUsd])).toEqual([
			['b', 5000n],
			[ours, 77n],
		]);
		expect(database.prepare('SELECT outcome, cost_nano_usd AS cost FROM calls ORDER BY sequence').all()).toEqual([
			{ outcome: 0, cost: 1234 },
			{ outcome: 4, cost: 5000 },
			{ outcome: 4, cost: 77 },
		]);
		expect(check()).toEqual([]);
	});

	test('change nothing when they are taken over again, before or after they are closed', () => {
		const { writer, dump, check, noted } = setUp();
		const moved = [...remaining, readLine(open('a', other))];
		writer.takeOver('dead', { opens: moved, closes: [] });
		const before = dump();
		writer.takeOver('dead', { opens: moved, closes: [] });
		expect(dump()).toEqual(before);
		writer.closeInterrupted(ledgerNoonMs, () => false);
		const [closed, notedBefore] = [dump(), noted()];
		writer.takeOver('dead', { opens: moved, closes: [] });
		expect(writer.closeInterrupted(ledgerNoonMs, () => false)).toEqual([]);
		expect(dump()).toEqual(closed);
		expect(noted()).toEqual(notedBefore);
		expect(check()).toEqual([]);
	});

	test('that may have been pruned are left out', () => {
		const { writer, database, check } = setUp(false);
		const old = { startedMs: ledgerNoonMs - 2 * hourMs };
		writer.write(packBatch({ opens: [open('old', old)], closes: [close('old')] }));
		expect(writer.pruneSome(ledgerNoonMs)).toBe(1);
		const before = { startedMs: ledgerNoonMs - 30 * 60_000 - 1 };
		const since = { startedMs: ledgerNoonMs - 30 * 60_000 };
		writer.takeOver('dead', { opens: [open('old', old), open('before', before), open('since', since)].map(readLine), closes: [] });
		expect(writer.closeInterrupted(ledgerNoonMs, () => false).map(({ id }) => id)).toEqual(['since']);
		expect(database.prepare('SELECT sum(requests) AS requests FROM hourly').get()).toEqual({ requests: 2 });
		expect(check()).toEqual([]);
	});
});

describe('a batch', () => {
	const rows = (count: number): WriteBatch => {
		const ids = Array.from({ length: count }, (_, place) => `req_0123456789ab0123456789abcdef${place.toString(16).padStart(4, '0')}`);
		return { opens: ids.map((id) => open(id)), closes: ids.map((id) => close(id)) };
	};

	test.each([
		[15, 0],
		[16, 1 + 1 + 1],
		[100, 1 + 6 + 4 + 1],
		[256, 1 + 16 + 1],
		[257, 0],
	])('of %d entries is written with %d pauses: few are one piece, and many must not wait', (count, rests) => {
		const rest = vi.fn<() => void>();
		const { write, database } = setUp(true, rest);
		expect(write(rows(count))).toEqual([]);
		expect(rest).toHaveBeenCalledTimes(rests);
		expect(database.prepare('SELECT count(*) AS count FROM calls WHERE outcome IS NOT NULL').get()).toEqual({ count });
	});

	test('of closes alone is written with rests too', () => {
		const rest = vi.fn<() => void>();
		const { write, check } = setUp(true, rest);
		const { opens, closes } = rows(64);
		write({ opens, closes: [] });
		rest.mockClear();
		expect(write({ opens: [], closes })).toEqual([]);
		expect(rest).toHaveBeenCalledTimes(1 + 64 / 16 + 1);
		expect(check()).toEqual([]);
	});
});

function setUp(spools = true, rest = (): void => undefined) {
	const database = new DatabaseSync(':memory:');
	onTestFinished(() => {
		if (database.isOpen) database.close();
	});
	migrate(database, ledgerSchema);
	const writer = createLedgerWriter(database, 'run', spools, rest);
	const all = (table: string) => database.prepare(`SELECT * FROM ${table} ORDER BY 1, 2, 3, 4, 5`).all();
	return {
		database,
		writer,
		write: (batch: WriteBatch) => writer.write(packBatch(batch)),
		check: createLedgerCheck(database),
		dump: () => ({ requests: all('calls'), hourly: all('hourly'), daily: all('daily') }),
		/** Rows noted for PostgreSQL. */
		noted: () =>
			database
				.prepare('SELECT call FROM outbox ORDER BY position')
				.all()
				.map((row) => row['call']),
	};
}
