import { expect, test } from 'vitest';
import { ManualClock } from '../../../../test/support/manual-clock.ts';
import { createRecordingLog } from '../../../../test/support/recording-log.ts';
import type { SpoolPart, SpoolProgress } from '../../contracts/ledger-spool.ts';
import { LedgerShipper } from './ledger-shipper.ts';

/** A spool in memory, and a server that responds when the test says so; both process calls in order. */
function setUp() {
	const clock = new ManualClock();
	const log = createRecordingLog();
	const entries: number[] = [];
	let last = 0;
	const state = { isSentByAnother: false, rejected: [] as { id: string; why: string }[] };
	const limits: number[] = [];
	const sent: number[][] = [];
	let underWay: PromiseWithResolvers<void> | undefined;
	const spool = {
		async read(limit: number): Promise<SpoolPart> {
			limits.push(limit);
			const some = state.isSentByAnother ? [] : entries.slice(0, limit);
			const first = entries[0] ?? last + 1;
			const through = some.at(-1) ?? (state.isSentByAnother ? first - 1 : last);
			const { isSentByAnother } = state;
			return {
				first,
				last,
				oldestMs: entries.length === 0 ? null : 0,
				through,
				count: some.length,
				rows: JSON.stringify(some),
				isSentByAnother,
			};
		},
		async forget({ through }: SpoolProgress): Promise<void> {
			entries.splice(0, entries.filter((entry) => entry <= through).length);
		},
	};
	const send = async (rows: string): Promise<{ id: string; why: string }[]> => {
		if (underWay !== undefined) throw new Error('Two parts are under way');
		underWay = Promise.withResolvers();
		await underWay.promise;
		sent.push(JSON.parse(rows) as number[]);
		return state.rejected;
	};
	const shipper = new LedgerShipper({ spool, send, clock, log, address: 'postgres://host' });
	const response = async (cause?: Error): Promise<void> => {
		await settled();
		const acknowledged = underWay;
		underWay = undefined;
		if (cause === undefined) acknowledged?.resolve();
		else acknowledged?.reject(cause);
		await settled();
	};
	const note = (count = 1): void => {
		for (let index = 0; index < count; index++) entries.push(++last);
		shipper.wake();
	};
	return { clock, log, entries, state, limits, sent, shipper, response, note, isSending: () => underWay !== undefined };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('what is noted is sent a second later, together, and forgotten; then it sleeps', async () => {
	const { clock, sent, entries, note, response, limits } = setUp();
	note();
	clock.advance(900);
	note();
	clock.advance(99);
	await settled();
	expect(limits).toEqual([]);
	clock.advance(1);
	await response();
	expect(sent).toEqual([[1, 2]]);
	expect(entries).toEqual([]);
	expect(clock.pending).toBe(0);
});

test('entries that are noted while a part is in flight stay, and are sent a second after it', async () => {
	const { clock, sent, entries, note, response } = setUp();
	note(2);
	clock.advance(1000);
	await settled();
	note();
	await response();
	expect(entries).toEqual([3]);
	expect(sent).toEqual([[1, 2]]);
	clock.advance(1000);
	await response();
	expect(sent).toEqual([[1, 2], [3]]);
	expect(clock.pending).toBe(0);
});

test('more than a part holds is sent without a pause', async () => {
	const { clock, sent, note, response } = setUp();
	note(25_000);
	clock.advance(1000);
	for (let part = 0; part < 3; part++) await response();
	expect(sent.map(({ length }) => length)).toEqual([10_000, 10_000, 5_000]);
});

test('a flush sends at once, and waits for what was noted before it alone', async () => {
	const { shipper, sent, note, response, isSending } = setUp();
	await shipper.flush();
	note();
	const flushed: string[] = [];
	void shipper.flush().then(() => flushed.push('first'));
	await settled();
	expect(isSending()).toBe(true);
	note();
	void shipper.flush().then(() => flushed.push('second'));
	await response();
	expect(flushed).toEqual(['first']);
	note();
	await response();
	expect(flushed).toEqual(['first', 'second']);
	expect(sent).toEqual([[1], [2]]);
});

test('a failure is logged once, retried every second in small parts, and rejects all waiting flushes', async () => {
	const { shipper, clock, log, sent, entries, note, response, limits } = setUp();
	note(3);
	clock.advance(1000);
	await response(new Error('no route'));
	expect(shipper.health()).toMatchObject({ isShipping: false, spooledEntries: 3 });
	const flushed = shipper.flush().catch((cause: unknown) => cause);
	await response(new Error('no route'));
	expect(await flushed).toEqual(new Error('no route'));
	clock.advance(1000);
	await response(new Error('no route'));
	expect(entries).toEqual([1, 2, 3]);
	clock.advance(1000);
	await response();
	expect(sent).toEqual([[1, 2, 3]]);
	expect(limits).toEqual([10_000, 500, 500, 500]);
	expect(log.lines.map(({ level }) => level)).toEqual(['error', 'info']);
	expect(shipper.health()).toEqual({ isShipping: true, spooledEntries: 0, oldestSpooledAgeMs: null, unstorableEntries: 0 });
	note();
	clock.advance(1000);
	await settled();
	expect(limits.at(-1)).toBe(1000);
});

test('a probe queries the server though there is nothing to send, until it responds', async () => {
	const { shipper, clock, log, sent, response } = setUp();
	const probed = shipper.probe().catch((cause: unknown) => cause);
	await response(new Error('no route'));
	expect(await probed).toEqual(new Error('no route'));
	expect(shipper.health().isShipping).toBe(false);
	clock.advance(1000);
	await response();
	expect(sent).toEqual([[]]);
	expect(log.lines.map(({ level }) => level)).toEqual(['error', 'info']);
	expect(clock.pending).toBe(0);
});

test('what another process sends is waited for, and sent when it dies', async () => {
	const { shipper, clock, entries, state, sent, note, response } = setUp();
	state.isSentByAnother = true;
	note(2);
	const flushed: string[] = [];
	void shipper.flush().then(() => flushed.push('done'));
	await settled();
	entries.shift();
	clock.advance(50);
	await settled();
	expect([flushed, sent]).toEqual([[], []]);
	state.isSentByAnother = false;
	clock.advance(50);
	await response();
	expect([flushed, sent]).toEqual([['done'], [[2]]]);
});

test('entries that can never be stored are named and counted', async () => {
	const { shipper, clock, log, state, note, response } = setUp();
	state.rejected = [{ id: 'one', why: 'too long' }];
	note();
	clock.advance(1000);
	await response();
	expect(shipper.health()).toMatchObject({ unstorableEntries: 1, isShipping: true });
	expect(log.lines).toEqual([
		{ level: 'error', event: 'PostgreSQL cannot store a ledger entry', fields: { id: 'one', cause: 'too long' } },
	]);
});

test('the end rejects all waiting flushes, and leaves nothing behind', async () => {
	const { shipper, clock, note, response } = setUp();
	note();
	const flushed = shipper.flush();
	await settled();
	shipper.end();
	await expect(flushed).rejects.toThrow('The process is shutting down');
	await expect(shipper.flush()).rejects.toThrow('The process is shutting down');
	await response();
	note();
	expect(clock.pending).toBe(0);
});
