/** Contract of every ledger. Each backend runs this unchanged. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { closeEntry } from '../../../test/support/close-entry.ts';
import { noUsage } from '../../core/usage.ts';
import { assessmentContract } from './assessments.contract.ts';
import { attributesContract } from './attributes.contract.ts';
import { type ClosedEntry, type EntryQuery, type Ledger, maxEntriesScanned, type OpenEntry, type SummaryQuery } from './ledger.ts';
import { summariesContract } from './summaries.contract.ts';
import { teamSnapshotContract } from './team-snapshot.contract.ts';

export interface LedgerSubject {
	/** An empty ledger, which an earlier test may have used. */
	readonly ledger: Ledger;
	dispose(): Promise<void>;
}

export const ledgerNoonMs = Date.UTC(2026, 10, 21, 10, 30);
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const november: SummaryQuery = { fromMs: Date.UTC(2026, 10, 1), toMs: Date.UTC(2026, 11, 1), period: 'month' };

export function ledgerContract(name: string, open: () => Promise<LedgerSubject>): void {
	describe(`ledger in ${name}`, () => {
		let subject: LedgerSubject;
		let ledger: Ledger;
		beforeEach(async () => {
			subject = await open();
			ledger = subject.ledger;
		});
		afterEach(() => subject.dispose());

		const openAndClose = async (id: string, row: Partial<OpenEntry> = {}, closed: Partial<ClosedEntry> = {}): Promise<void> => {
			await ledger.open(openEntry(id, row));
			expect(await closeEntry(ledger, closedEntry(id, closed))).toBe('closed');
		};
		const idsOf = async (query: Partial<EntryQuery> = {}): Promise<string[]> =>
			(await ledger.list({ limit: 100, ...query })).rows.map(({ id }) => id);

		assessmentContract(() => ledger);
		summariesContract(() => ledger, openAndClose);
		attributesContract(() => ledger, openAndClose);
		teamSnapshotContract(() => ledger, openEntry, closedEntry);

		describe('entries', () => {
			test('an opened entry is listed as it was, and as running', async () => {
				const row = openEntry('req_0123456789ab0123456789abcdef0123', {
					team: 'Ünïcode "quoted" \u0000 name',
					model: '__proto__',
					dialect: 'messages',
					isStreaming: false,
					budgets: ['a', 'b, "c"'],
				});
				await ledger.open(row);
				expect(await ledger.list({ limit: 10 })).toEqual({ rows: [{ ...row, closed: undefined }], nextCursor: null });
			});

			test('a closed entry is listed with its end', async () => {
				const row = openEntry('one', { budgets: [], reservedNanoUsd: 0n });
				const { id, ...closed } = closedEntry('one', {
					outcome: 'client_closed',
					status: 499,
					isEstimated: true,
					endedMs: row.startedMs - 5,
				});
				await ledger.open(row);
				expect(await closeEntry(ledger, { id, ...closed })).toBe('closed');
				expect((await ledger.list({ limit: 10 })).rows).toEqual([{ ...row, closed }]);
			});

			test('a dialect that no release knows is kept as it is, from the first open to the end', async () => {
				const dialects = ['responses', 'chat ', 'CHAT', 'a, "dialect" of\n{tomorrow}', '5', ''];
				const opened = dialects.map((dialect, index) => openEntry(`r${index}`, { dialect, isStreaming: index % 2 === 0 }));
				for (const row of opened) await ledger.open(row);
				await ledger.open(openEntry('r0', { dialect: 'chat', provider: 'provider_b' }));
				await closeEntry(ledger, closedEntry('r1'));
				await openAndClose('at once', { dialect: 'embeddings' });
				const { rows } = await ledger.list({ limit: 9 });
				expect(rows.map(({ dialect }) => dialect)).toEqual([...dialects, 'embeddings'].toReversed());
				expect(rows.map(({ isStreaming }) => isStreaming)).toEqual([true, false, true, false, true, false, true]);
				expect(rows.map(({ closed }) => closed !== undefined)).toEqual([true, false, false, false, false, true, false]);
				expect(rows.at(-1)?.provider).toBe('provider_b');
				expect(await ledger.check()).toEqual([]);
			});

			test('every outcome is kept', async () => {
				const outcomes = ['complete', 'client_closed', 'upstream_error', 'broken', 'interrupted', 'not_sent'] as const;
				for (const outcome of outcomes) await openAndClose(outcome, {}, { outcome });
				expect((await ledger.list({ limit: 9 })).rows.map(({ closed }) => closed?.outcome)).toEqual(outcomes.toReversed());
			});

			test('money is exact', async () => {
				const amounts = [0n, 1n, 2n ** 53n + 1n, 2n ** 63n - 1n];
				for (const [index, amount] of amounts.entries()) {
					await openAndClose(`r${index}`, { team: `${index}`, reservedNanoUsd: amount }, { costNanoUsd: amount });
				}
				const { rows } = await ledger.list({ limit: 9 });
				expect(rows.map(({ reservedNanoUsd }) => reservedNanoUsd)).toEqual(amounts.toReversed());
				expect(rows.map(({ closed }) => closed?.costNanoUsd)).toEqual(amounts.toReversed());
				expect((await ledger.summarize(november)).map(({ costNanoUsd }) => costNanoUsd)).toEqual(amounts);
			});

			test('an entry that is opened again stays as it was, and counts once', async () => {
				await ledger.open(openEntry('one', { team: 'first' }));
				await ledger.open(openEntry('one', { team: 'second' }));
				expect((await ledger.list({ limit: 10 })).rows.map(({ team }) => team)).toEqual(['first']);
				expect((await ledger.summarize(november)).map(({ team, requests }) => [team, requests])).toEqual([['first', 1]]);
			});

			test('one that is opened again for another target moves there while it is open, and its count with it', async () => {
				const target = { provider: 'provider_b', model: 'other', priceVersion: 'v2', reservedNanoUsd: 77n, budgets: ['all', 'other'] };
				const sums = async (): Promise<string[]> =>
					(await ledger.summarize(november)).map(({ model, requests, costNanoUsd }) => `${model} ${requests} ${costNanoUsd}`);
				const { model } = openEntry('one');
				await ledger.open(openEntry('one'));
				await openAndClose('stays', {}, { costNanoUsd: 5n });
				expect(await sums()).toEqual([`${model} 2 5`]);
				await ledger.open(openEntry('one', { ...target, team: 'second', startedMs: ledgerNoonMs + dayMs }));
				expect((await ledger.list({ limit: 10 })).rows.at(-1)).toEqual({ ...openEntry('one', target), closed: undefined });
				expect((await sums()).toSorted()).toEqual([`${model} 1 5`, 'other 1 0'].toSorted());
				await closeEntry(ledger, closedEntry('one', { costNanoUsd: 9n }));
				await ledger.open(openEntry('one', { model: 'too late' }));
				expect((await sums()).toSorted()).toEqual([`${model} 1 5`, 'other 1 9'].toSorted());
				await openAndClose('alone', { model: 'short' });
				await ledger.open(openEntry('leaves', { model: 'left' }));
				await ledger.open(openEntry('leaves', { model: 'short' }));
				expect((await ledger.summarize(november)).find((row) => row.model === 'left')).toBeUndefined();
				expect(await ledger.check()).toEqual([]);
			});

			test('of two closes the first counts', async () => {
				const before = ledger.health();
				await ledger.open(openEntry('one'));
				const outcomes = await Promise.all([
					closeEntry(ledger, closedEntry('one', { costNanoUsd: 7n })),
					closeEntry(ledger, closedEntry('one', { costNanoUsd: 8n })),
				]);
				expect(outcomes).toEqual(['closed', 'closed_before']);
				expect(await closeEntry(ledger, closedEntry('one', { costNanoUsd: 9n }))).toBe('closed_before');
				expect((await ledger.list({ limit: 1 })).rows[0]?.closed?.costNanoUsd).toBe(7n);
				expect((await ledger.summarize(november))[0]?.costNanoUsd).toBe(7n);
				expect(ledger.health()).toMatchObject({ repeatedCloses: before.repeatedCloses + 2, unknownCloses: before.unknownCloses });
			});

			test('closing what was never opened changes nothing, and is counted', async () => {
				const before = ledger.health();
				expect(await closeEntry(ledger, closedEntry('ghost'))).toBe('unknown');
				expect(await idsOf()).toEqual([]);
				expect(await ledger.summarize(november)).toEqual([]);
				expect(ledger.health()).toMatchObject({ unknownCloses: before.unknownCloses + 1, isWritable: true });
			});

			test('ids that look alike are different entries', async () => {
				const ids = [
					'req_0123456789ab0123456789abcdef0123',
					'req_0123456789AB0123456789ABCDEF0123',
					'0123456789ab0123456789abcdef0123',
					'req_01',
				];
				for (const id of ids) await ledger.open(openEntry(id));
				expect(await idsOf()).toEqual(ids.toReversed());
				for (const id of ids) expect(await closeEntry(ledger, closedEntry(id))).toBe('closed');
			});

			test('changes to an object that a caller got do not change the entry', async () => {
				const budgets = ['a'];
				await ledger.open(openEntry('one', { budgets }));
				budgets.push('b');
				const [listed] = (await ledger.list({ limit: 1 })).rows;
				(listed?.budgets as string[] | undefined)?.push('c');
				expect((await ledger.list({ limit: 1 })).rows[0]?.budgets).toEqual(['a']);
			});
		});

		describe('pages', () => {
			test('are newest first, and of one team when asked', async () => {
				for (const [index, team] of ['red', 'blue', 'red', 'green', 'red'].entries()) await ledger.open(openEntry(`r${index}`, { team }));
				expect(await idsOf()).toEqual(['r4', 'r3', 'r2', 'r1', 'r0']);
				expect(await idsOf({ team: 'red' })).toEqual(['r4', 'r2', 'r0']);
				expect(await idsOf({ team: 'nobody' })).toEqual([]);
			});

			test('are of one client, provider, model or outcome when asked', async () => {
				await openAndClose('r0', { clientId: 'c' });
				await openAndClose('r1', { clientId: 'c', model: 'm' });
				await openAndClose('r2', { provider: 'p', team: 'blue' });
				await ledger.open(openEntry('r3', { clientId: 'c' }));
				expect(await idsOf({ clientId: 'c' })).toEqual(['r3', 'r1', 'r0']);
				expect(await idsOf({ clientId: 'c', model: 'm' })).toEqual(['r1']);
				expect(await idsOf({ clientId: 'c', outcome: closedEntry('r0').outcome })).toEqual(['r1', 'r0']);
				expect(await idsOf({ provider: 'p' })).toEqual(['r2']);
				expect(await idsOf({ provider: 'p', team: 'red' })).toEqual([]);
				for (const none of [{ clientId: 'x' }, { provider: 'x' }, { model: 'x' }, { outcome: 'broken' } as const]) {
					expect(await idsOf(none)).toEqual([]);
				}
				const first = await ledger.list({ limit: 2, clientId: 'c' });
				expect(first.rows.map(({ id }) => id)).toEqual(['r3', 'r1']);
				expect(await ledger.list({ limit: 2, clientId: 'c', cursor: first.nextCursor ?? '' })).toMatchObject({
					rows: [{ id: 'r0' }],
					nextCursor: null,
				});
			});

			test('with such filters examine a limited number of entries; the cursor leads on', async () => {
				await ledger.open(openEntry('last', { model: 'rare' }));
				await Promise.all(Array.from({ length: maxEntriesScanned }, async (_, index) => ledger.open(openEntry(`r${index}`))));
				const first = await ledger.list({ limit: 10, model: 'rare' });
				expect(first.rows).toEqual([]);
				const second = await ledger.list({ limit: 10, model: 'rare', cursor: first.nextCursor ?? '' });
				expect(second.rows.map(({ id }) => id)).toEqual(['last']);
				expect(second.nextCursor).toBeNull();
			});

			test('contain each entry once, however many are opened between them', async () => {
				for (let index = 0; index < 7; index++) await ledger.open(openEntry(`r${index}`));
				const seen: string[] = [];
				let cursor: string | null = null;
				do {
					const page: Awaited<ReturnType<Ledger['list']>> = await ledger.list({ limit: 3, ...(cursor === null ? {} : { cursor }) });
					seen.push(...page.rows.map(({ id }) => id));
					cursor = page.nextCursor;
					await ledger.open(openEntry(`new${seen.length}`));
				} while (cursor !== null);
				expect(seen).toEqual(['r6', 'r5', 'r4', 'r3', 'r2', 'r1', 'r0']);
			});

			test('end with the last entry, also when it fills the page', async () => {
				for (const id of ['a', 'b']) await ledger.open(openEntry(id));
				expect((await ledger.list({ limit: 2 })).nextCursor).toBeNull();
				expect((await ledger.list({ limit: 1 })).nextCursor).not.toBeNull();
			});

			test('take no cursor but their own', async () => {
				for (const cursor of ['', 'x', '-1', '1.5', '0', "1' OR '1'='1"]) {
					await expect(ledger.list({ limit: 1, cursor })).rejects.toThrow(RangeError);
				}
			});
		});

		describe('sums', () => {
			test('count a request when it is admitted, its usage and cost when it ends', async () => {
				await ledger.open(openEntry('one'));
				const names = { team: 'red', clientId: 'red-client', provider: 'provider_a', model: 'claude', endpoint: '', attributes: '' };
				const key = { period: '2026-11', ...names };
				expect(await ledger.summarize(november)).toEqual([
					{ ...key, requests: 1, usage: noUsage, costNanoUsd: 0n, estimatedCostNanoUsd: 0n },
				]);
				const closed = closedEntry('one');
				await closeEntry(ledger, closed);
				await openAndClose('two');
				expect(await ledger.summarize(november)).toEqual([
					{ ...key, requests: 2, usage: doubled(closed), costNanoUsd: closed.costNanoUsd * 2n, estimatedCostNanoUsd: 0n },
				]);
			});

			test('say how much of the cost was estimated, also of requests that moved or were interrupted', async () => {
				await openAndClose('exact');
				await openAndClose('estimated', {}, { isEstimated: true, costNanoUsd: 2n ** 53n + 1n });
				await ledger.open(openEntry('moved'));
				await ledger.open(openEntry('moved', { model: 'other' }));
				await closeEntry(ledger, closedEntry('moved', { isEstimated: true, costNanoUsd: 5n }));
				const sums = await ledger.summarize({ ...november, by: ['model'] });
				expect(sums.map(({ model, estimatedCostNanoUsd }) => [model, estimatedCostNanoUsd])).toEqual([
					['claude', 2n ** 53n + 1n],
					['other', 5n],
				]);
				expect(await ledger.check()).toEqual([]);
			});

			test('separate teams, clients, providers and models, in order', async () => {
				for (const [index, row] of [{ team: 'b' }, { team: 'a' }, { clientId: 'c2' }, { provider: 'p2' }, { model: 'm2' }, {}].entries()) {
					await openAndClose(`r${index}`, { team: 'a', clientId: 'c', provider: 'p', model: 'm', ...row });
				}
				const keys = (await ledger.summarize(november)).map((sum) =>
					[sum.team, sum.clientId, sum.provider, sum.model, sum.requests].join(' '),
				);
				expect(keys).toEqual(['a c p m 2', 'a c p m2 1', 'a c p2 m 1', 'a c2 p m 1', 'b c p m 1']);
				const ofModels = await ledger.summarize({ ...november, by: ['provider', 'model'] });
				expect(ofModels.map((sum) => [sum.team, sum.clientId, sum.provider, sum.model, sum.requests].join(' '))).toEqual([
					'  p m 4',
					'  p m2 1',
					'  p2 m 1',
				]);
				expect(ofModels.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0n)).toBe(6n * 1234n);
				expect((await ledger.summarize({ ...november, team: 'b' })).map(({ team }) => team)).toEqual(['b']);
				expect(await ledger.summarize({ ...november, team: 'nobody' })).toEqual([]);
			});

			test('of costs are returned for a team, or for one of its models, in the order of the query', async () => {
				for (const [index, row] of [{ team: 'b' }, {}, { clientId: 'c2' }, { model: 'm2' }].entries()) {
					await openAndClose(`r${index}`, { team: 'a', clientId: 'c', provider: 'p', model: 'm', ...row });
				}
				await ledger.open(openEntry('running', { team: 'a', model: 'm2' }));
				const { fromMs, toMs } = november;
				const of = [
					{ team: 'b', model: null },
					{ team: 'a', model: 'm' },
					{ team: 'nobody', model: null },
					{ team: 'a', model: null },
					{ team: 'a', model: 'unheard of' },
					{ team: 'a', model: 'm2' },
					{ team: 'b', model: null },
				];
				const costs = await ledger.sumCosts({ fromMs, toMs, of });
				expect(costs).toEqual([1n, 2n, 0n, 3n, 0n, 1n, 1n].map((requests) => requests * 1234n));
				expect(await ledger.sumCosts({ fromMs: toMs, toMs: toMs + dayMs, of })).toEqual(of.map(() => 0n));
				expect(await ledger.sumCosts({ fromMs, toMs, of: [] })).toEqual([]);
			});

			test('belong to the moment of admission, whenever the request ends', async () => {
				const startedMs = Date.UTC(2026, 10, 30, 23, 59, 59, 999);
				await openAndClose('one', { startedMs }, { endedMs: startedMs + 2 * dayMs });
				expect((await ledger.summarize(november)).map(({ requests, costNanoUsd }) => [requests, costNanoUsd])).toEqual([[1, 1234n]]);
				expect(await ledger.summarize({ ...november, fromMs: november.toMs, toMs: november.toMs + dayMs })).toEqual([]);
			});

			test('of days and of months', async () => {
				for (const day of [1, 1, 2, 30]) await openAndClose(`r${Math.random()}`, { startedMs: Date.UTC(2026, 10, day, 5) });
				await openAndClose('december', { startedMs: Date.UTC(2026, 11, 1) });
				const sums = async (query: SummaryQuery): Promise<unknown[]> =>
					(await ledger.summarize(query)).map(({ period, requests }) => `${period} ${requests}`);
				const year = { fromMs: Date.UTC(2026, 0), toMs: Date.UTC(2027, 0) };
				expect(await sums({ ...year, period: 'month' })).toEqual(['2026-11 4', '2026-12 1']);
				expect(await sums({ ...year, period: 'day' })).toEqual(['2026-11-01 2', '2026-11-02 1', '2026-11-30 1', '2026-12-01 1']);
			});

			test('of any hours: both ends count whole', async () => {
				const startMs = Date.UTC(2026, 10, 1);
				for (let hour = 0; hour < 96; hour++) await openAndClose(`h${hour}`, { startedMs: startMs + hour * hourMs + 59 });
				const count = async (fromHour: number, toHour: number): Promise<number> =>
					(await ledger.summarize({ fromMs: startMs + fromHour * hourMs, toMs: startMs + toHour * hourMs, period: 'month' }))[0]
						?.requests ?? 0;
				for (const [from, to] of [
					[0, 96],
					[0, 24],
					[1, 24],
					[0, 25],
					[23, 25],
					[23, 48],
					[5, 9],
					[20, 77],
					[24, 72],
					[-100, 200],
				] as const) {
					expect([from, to, await count(from, to)]).toEqual([from, to, Math.min(to, 96) - Math.max(from, 0)]);
				}
				expect([await count(7, 7), await count(9, 7)]).toEqual([0, 0]);
				expect([await count(7.5, 7.6), await count(7.5, 8.1)]).toEqual([1, 2]);
			});

			test('agree with the entries', async () => {
				await openAndClose('one');
				await ledger.open(openEntry('two'));
				expect(await ledger.check()).toEqual([]);
			});
		});

		describe('pruning', () => {
			test('deletes closed entries of hours before, and no sum', async () => {
				await openAndClose('old', { startedMs: ledgerNoonMs - 2 * hourMs });
				await openAndClose('same hour', { startedMs: ledgerNoonMs - 60_000 });
				await ledger.open(openEntry('still open', { startedMs: ledgerNoonMs - dayMs }));
				expect(await ledger.prune(ledgerNoonMs)).toBe(1);
				expect(await idsOf()).toEqual(['still open', 'same hour']);
				expect((await ledger.summarize(november))[0]?.requests).toBe(3);
				expect(await ledger.check()).toEqual([]);
				expect(await ledger.prune(ledgerNoonMs)).toBe(0);
			});

			test('finds earlier requests, and no entry comes back', async () => {
				const row = openEntry('old', { startedMs: ledgerNoonMs - 2 * hourMs });
				await ledger.open(row);
				const closed = closeEntry(ledger, closedEntry('old'));
				await ledger.open(row);
				expect(await ledger.prune(ledgerNoonMs)).toBe(1);
				expect([await closed, await idsOf()]).toEqual(['closed', []]);
			});

			test('leaves the rest countable', async () => {
				for (let index = 0; index < 20; index++) await openAndClose(`r${index}`, { startedMs: ledgerNoonMs - index * hourMs });
				expect(await ledger.prune(ledgerNoonMs - 10 * hourMs)).toBe(9);
				expect(await closeEntry(ledger, closedEntry('r19'))).toBe('unknown');
				expect(await ledger.check()).toEqual([]);
				expect(await idsOf()).toHaveLength(11);
			});
		});

		test('nothing of living processes is interrupted', async () => {
			await ledger.open(openEntry('one'));
			expect(await ledger.closeInterrupted()).toEqual([]);
			expect(await closeEntry(ledger, closedEntry('one'))).toBe('closed');
		});
	});
}

export function openEntry(id: string, differences: Partial<OpenEntry> = {}): OpenEntry {
	const team = differences.team ?? 'red';
	return {
		id,
		startedMs: ledgerNoonMs,
		team,
		clientId: `${team}-client`,
		provider: 'provider_a',
		model: 'claude',
		dialect: 'chat',
		isStreaming: true,
		priceVersion: 'default:2026-11-01',
		reservedNanoUsd: 5000n,
		budgets: [team],
		endpoint: '/v1/chat/completions',
		attributes: '',
		...differences,
	};
}

export function closedEntry(id: string, differences: Partial<ClosedEntry> = {}): ClosedEntry {
	return {
		id,
		endedMs: ledgerNoonMs + 900,
		outcome: 'complete',
		status: 200,
		usage: {
			inputTokens: 1,
			cacheReadTokens: 20,
			cacheWriteTokens: 300,
			cacheWriteHourTokens: 100,
			outputTokens: 4000,
			reasoningTokens: 50,
		},
		costNanoUsd: 1234n,
		isEstimated: false,
		...differences,
	};
}

function doubled({ usage }: ClosedEntry): ClosedEntry['usage'] {
	return {
		inputTokens: usage.inputTokens * 2,
		cacheReadTokens: usage.cacheReadTokens * 2,
		cacheWriteTokens: usage.cacheWriteTokens * 2,
		cacheWriteHourTokens: usage.cacheWriteHourTokens * 2,
		outputTokens: usage.outputTokens * 2,
		reasoningTokens: usage.reasoningTokens * 2,
	};
}
