/** Contract of every ledger for assessments. Each backend runs this unchanged. */
import { describe, expect, test } from 'vitest';
import type { Assessment, AssessmentQuery } from './assessments.ts';
import type { Ledger } from './ledger.ts';

const atMs = Date.UTC(2026, 10, 21, 10, 30);
let lastTeam = 0;

/** @param ledgerOf returns the ledger of the running test; it may contain assessments of other teams. */
export function assessmentContract(ledgerOf: () => Ledger): void {
	const rowOf = (requestId: string, more: Partial<Assessment> = {}): Assessment => ({
		requestId,
		atMs,
		team: `team ${lastTeam}`,
		stage: 'input',
		policy: 'pii',
		category: 'email',
		action: 'NONE',
		outcome: 'matched',
		count: 1,
		...more,
	});
	const list = (query: Partial<AssessmentQuery> = {}) => ledgerOf().listAssessments({ team: `team ${lastTeam}`, limit: 100, ...query });
	const idsOf = async (query: Partial<AssessmentQuery> = {}): Promise<string[]> =>
		(await list(query)).assessments.map(({ requestId }) => requestId);

	describe('assessments', () => {
		const newId = (): string => `call-${++lastTeam}`;

		test('are listed as they were, the newest first', async () => {
			const id = newId();
			const rows = [
				rowOf(id),
				rowOf(id, { action: 'MASK', outcome: 'masked', count: 7 }),
				rowOf('req_0123456789ab0123456789abcdef0123', {
					stage: 'output',
					policy: 'words',
					category: 'Ünïcode "quoted" \u0000',
					action: 'BLOCK',
				}),
			];
			ledgerOf().assess(rows);
			expect(await list()).toEqual({ assessments: rows.toReversed(), nextCursor: null });
		});

		test('count once when they come twice', async () => {
			const id = newId();
			ledgerOf().assess([rowOf(id, { count: 1 }), rowOf(id, { count: 2 })]);
			ledgerOf().assess([rowOf(id, { count: 3 })]);
			expect((await list()).assessments).toEqual([rowOf(id, { count: 1 })]);
		});

		test('that are clean are listed only when asked for, and count for verdicts', async () => {
			const clean = { policy: '', category: '', outcome: 'clean' } as const;
			const [one, other, unknown] = [newId(), newId(), newId()];
			ledgerOf().assess([rowOf(one, clean), rowOf(one, { ...clean, stage: 'output' }), rowOf(other, clean), rowOf(other)]);
			expect(await idsOf()).toEqual([other]);
			expect(await idsOf({ outcome: 'clean' })).toEqual([other, one, one]);
			const verdicts = await ledgerOf().verdictsOf([one, other, unknown]);
			expect(Object.fromEntries(verdicts)).toEqual({
				[one]: { outcome: 'clean', hasOutput: true },
				[other]: { outcome: 'matched', hasOutput: false },
			});
		});

		test('are the most severe outcomes', async () => {
			const outcomes = ['masked', 'not_evaluated', 'failed', 'matched'] as const;
			for (let max = 1; max <= outcomes.length; max++) {
				const id = newId();
				ledgerOf().assess(outcomes.slice(0, max).map((outcome, index) => rowOf(id, { outcome, category: `${index}` })));
				expect((await ledgerOf().verdictsOf([id])).get(id)?.outcome).toBe(outcomes[max - 1]);
			}
		});

		test('are filtered by each of their members', async () => {
			const id = newId();
			ledgerOf().assess([
				rowOf(id),
				rowOf(`${id} output`, { stage: 'output' }),
				rowOf(`${id} words`, { policy: 'words' }),
				rowOf(`${id} phone`, { category: 'phone' }),
				rowOf(`${id} block`, { action: 'BLOCK' }),
				rowOf(`${id} failed`, { outcome: 'failed' }),
				rowOf(`${id} late`, { atMs: atMs + 10 }),
			]);
			expect(await idsOf()).toHaveLength(7);
			expect(await idsOf({ requestId: id })).toEqual([id]);
			expect(await idsOf({ stage: 'output' })).toEqual([`${id} output`]);
			expect(await idsOf({ policy: 'words' })).toEqual([`${id} words`]);
			expect(await idsOf({ category: 'phone' })).toEqual([`${id} phone`]);
			expect(await idsOf({ action: 'BLOCK' })).toEqual([`${id} block`]);
			expect(await idsOf({ outcome: 'failed' })).toEqual([`${id} failed`]);
			expect(await idsOf({ fromMs: atMs + 10 })).toEqual([`${id} late`]);
			expect(await idsOf({ toMs: atMs + 10 })).toHaveLength(6);
			expect(await idsOf({ team: 'nobody' })).toEqual([]);
		});

		test('come in pages that move nothing', async () => {
			const id = newId();
			ledgerOf().assess([1, 2, 3, 4, 5].map((number) => rowOf(`${id}.${number}`)));
			const first = await list({ limit: 2 });
			ledgerOf().assess([rowOf(`${id}.6`)]);
			const second = await list({ limit: 2, cursor: first.nextCursor ?? '' });
			const third = await list({ limit: 2, cursor: second.nextCursor ?? '' });
			const ids = [first, second, third].map(({ assessments }) => assessments.map(({ requestId }) => requestId.slice(id.length)));
			expect(ids).toEqual([['.5', '.4'], ['.3', '.2'], ['.1']]);
			expect(third.nextCursor).toBeNull();
			await expect(list({ cursor: 'x' })).rejects.toThrow(RangeError);
		});

		test('are deleted with the entries of their time', async () => {
			const id = newId();
			ledgerOf().assess([rowOf(id, { atMs: atMs - 3_600_000 }), rowOf(`${id} new`)]);
			expect(await idsOf()).toHaveLength(2);
			await ledgerOf().prune(atMs);
			expect(await idsOf()).toEqual([`${id} new`]);
		});
	});
}
