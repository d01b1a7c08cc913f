/** Snapshots of one team: a part of the contract of every ledger. */
import { describe, expect, test } from 'vitest';
import { closeEntry } from '../../../test/support/close-entry.ts';
import type { ClosedEntry, Ledger, OpenEntry, TeamQuery } from './ledger.ts';

const atMs = Date.UTC(2026, 10, 21, 10, 30);
const minuteMs = 60_000;

/** @param row an entry of the team `red` at that time. @param closed its close soon after, at 1,234 nano-dollars. */
export function teamSnapshotContract(
	ledger: () => Ledger,
	row: (id: string, differences: Partial<OpenEntry>) => OpenEntry,
	closed: (id: string, differences: Partial<ClosedEntry>) => ClosedEntry,
): void {
	const day = { fromMs: Date.UTC(2026, 10, 21), toMs: Date.UTC(2026, 10, 22), period: 'day' } as const;
	const month = { fromMs: Date.UTC(2026, 10, 1), toMs: Date.UTC(2026, 11, 1), period: 'month' } as const;
	const query: TeamQuery = {
		team: 'red',
		spans: [day, month],
		requests: { endedSinceMs: atMs - minuteMs, startedSinceMs: atMs - 30 * minuteMs },
	};
	const close = (id: string, differences: Partial<ClosedEntry> = {}) => closeEntry(ledger(), closed(id, differences));

	describe('a snapshot of a team', () => {
		test('has its sums of each span, its open requests, and those that ended since', async () => {
			const startedMs = atMs - 20 * minuteMs;
			for (const [id, differences] of [
				['early', { startedMs: atMs - 3 * 24 * 60 * minuteMs }],
				['ended', { startedMs }],
				['ended long ago', { startedMs }],
				['of others', { startedMs, team: 'blue' }],
			] as const) {
				await ledger().open(row(id, differences));
				await close(id, { endedMs: id === 'ended long ago' ? atMs - 2 * minuteMs : atMs - minuteMs });
			}
			const open = row('open', { startedMs: atMs - 6 * 60 * minuteMs, budgets: ['a', 'b'], reservedNanoUsd: 77n });
			await ledger().open(open);
			const { sums, openRequests, endedIds } = await ledger().readTeam(query);
			expect(sums.map((rows) => rows.map(({ requests, costNanoUsd }) => [requests, costNanoUsd]))).toEqual([[[3, 2468n]], [[4, 3702n]]]);
			const { id, isStreaming, budgets, reservedNanoUsd } = open;
			expect(openRequests).toEqual([{ id, startedMs: open.startedMs, isStreaming, budgets, reservedNanoUsd }]);
			expect(endedIds).toEqual(['ended']);
			expect(await ledger().readTeam({ team: 'red', spans: [] })).toEqual({ sums: [], costs: [], openRequests: [], endedIds: [] });
			expect(await ledger().readTeam({ ...query, team: 'nobody' })).toEqual({ sums: [[], []], costs: [], openRequests: [], endedIds: [] });
		});

		test('is of one moment, however many requests end meanwhile', async () => {
			const last = 400;
			for (let index = 0; index < last; index++) await ledger().open(row(`r${index}`, {}));
			let ended = 0;
			const ending = (async () => {
				for (; ended < last; ended++) await close(`r${ended}`, { endedMs: atMs });
			})();
			const seen = new Set<number>();
			// Several readers at once: while one reads, another one makes the ledger write what is queued.
			const readers = Array.from({ length: 4 }, async () => {
				while (ended < last) {
					const { sums, openRequests, endedIds } = await ledger().readTeam(query);
					const costs = sums.map((rows) => rows.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0n));
					expect(costs).toEqual(costs.map(() => 1234n * BigInt(endedIds.length)));
					expect(new Set([...openRequests.map(({ id }) => id), ...endedIds]).size).toBe(last);
					seen.add(endedIds.length);
				}
			});
			await Promise.all(readers);
			await ending;
			// Otherwise no snapshot was taken while requests ended.
			expect(seen.size).toBeGreaterThan(2);
		});
	});
}
