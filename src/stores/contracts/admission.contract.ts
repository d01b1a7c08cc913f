import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { agreesWithModel } from '../../../test/support/admission-model.ts';
import { rateLimits } from '../../../test/support/rate-limits.ts';
import type { Admission, BudgetReading, RateLimit } from '../../core/counters.ts';
import {
	type AdmissionRequest,
	type AdmissionStore,
	type BudgetReservation,
	CountersMissing,
	endedRetentionMs,
	type Settlement,
} from './admission.ts';

export interface AdmissionSubject {
	/** Two clients of the same counters, or the same one twice if there is only one. They are empty. */
	readonly stores: readonly [AdmissionStore, AdmissionStore];
	/** Sets the store's clock. */
	setNow(nowMs: number): void | Promise<void>;
	dispose(): Promise<void>;
}

export const contractStartMs = Date.UTC(2026, 10, 21, 12, 0, 5);

const may = { team: 'red', limits: [], reservations: [], reservationMs: 60_000 };
const month = { budget: 'month', period: '2026-11' };
const model = { budget: 'model', period: '2026-11' };

/** Contract of every counter store. `open` sets the store's clock to `contractStartMs`. */
export function admissionContract(name: string, open: () => Promise<AdmissionSubject>, { modelRuns }: { modelRuns: number }): void {
	describe(`admission in ${name}`, () => {
		let subject: AdmissionSubject;
		let here: AdmissionStore;
		let there: AdmissionStore;
		const admit = async (id: string, more: Partial<AdmissionRequest> = {}, store = here): Promise<Admission> =>
			store.admit({ id, ...may, ...more });
		const settle = (id: string, more: Partial<Settlement> = {}) =>
			here.settle({ id, team: 'red', admittedMs: contractStartMs, tokens: 0, costNanoUsd: 0n, budgets: [], ...more });
		const after = (ms: number) => subject.setNow(contractStartMs + ms);
		const know = (budgets: { budget: string; period: string; settledNanoUsd?: bigint }[] = [], team = 'red') =>
			here.restore({ team, tokensToday: 0, endedIds: [], budgets: budgets.map((one) => ({ settledNanoUsd: 0n, ...one })) });
		const money = async (...budgets: { budget: string; period: string }[]) => (await there.read('red', budgets)).budgets.map(amounts);

		beforeEach(async () => {
			subject = await open();
			[here, there] = subject.stores;
		});
		afterEach(() => subject.dispose());

		describe('requests of a minute', () => {
			beforeEach(() => know());

			test('exactly the limit is admitted at any concurrency, and rejected requests do not count', async () => {
				const requested = Array.from({ length: 1000 }, (_, index) =>
					admit(`r${index}`, { limits: rateLimits({ requestsPerMinute: 100 }) }, index % 2 ? here : there),
				);
				const responses = await Promise.all(requested);
				expect(responses.filter(({ isAdmitted }) => isAdmitted)).toHaveLength(100);
				expect(responses.filter(({ isAdmitted }) => !isAdmitted).every((one) => !one.isAdmitted && one.binding === 'rpm')).toBe(true);
				expect((await there.read('red', [])).requestsThisMinute).toBe(100);
			});

			test('the reading counts the request itself, and has the store’s time', async () => {
				expect(await admit('one', { limits: rateLimits({ requestsPerMinute: 2 }) })).toMatchObject({
					isAdmitted: true,
					reading: { nowMs: contractStartMs, requestsThisMinute: 1, tokensToday: 0, reservedTokens: 0, budgets: [] },
				});
				await admit('two', { limits: rateLimits({ requestsPerMinute: 2 }) });
				expect(await admit('three', { limits: rateLimits({ requestsPerMinute: 2 }) })).toMatchObject({
					isAdmitted: false,
					binding: 'rpm',
					reading: { requestsThisMinute: 2 },
				});
			});

			test('start again with the UTC minute', async () => {
				await admit('one', { limits: rateLimits({ requestsPerMinute: 1 }) });
				await after(54_999);
				expect((await admit('two', { limits: rateLimits({ requestsPerMinute: 1 }) })).isAdmitted).toBe(false);
				await after(55_000);
				expect((await admit('two', { limits: rateLimits({ requestsPerMinute: 1 }) })).isAdmitted).toBe(true);
			});

			test('of one team are no other team’s', async () => {
				await know([], 'blue');
				await admit('one', { limits: rateLimits({ requestsPerMinute: 1 }) });
				expect((await admit('one', { team: 'blue', limits: rateLimits({ requestsPerMinute: 1 }) })).isAdmitted).toBe(true);
			});

			test('a limit of nothing admits nothing', async () => {
				expect(await admit('one', { limits: rateLimits({ requestsPerMinute: 0 }) })).toMatchObject({ isAdmitted: false, binding: 'rpm' });
				expect(await admit('one', { limits: rateLimits({ dailyTokens: 0 }) })).toMatchObject({
					isAdmitted: false,
					binding: 'daily_tokens',
				});
			});

			test('an id that was admitted is admitted again and counted once; also when it has ended', async () => {
				await admit('one', { limits: rateLimits({ requestsPerMinute: 1 }) });
				expect(await admit('one', { limits: rateLimits({ requestsPerMinute: 1 }) }, there)).toMatchObject({
					isAdmitted: true,
					reading: { requestsThisMinute: 1 },
				});
				await settle('one');
				expect((await admit('one', { limits: rateLimits({ requestsPerMinute: 1 }) }, there)).isAdmitted).toBe(true);
				expect((await there.read('red', [])).requestsThisMinute).toBe(1);
			});

			test('an id that was rejected is checked again', async () => {
				await admit('one', { limits: rateLimits({ requestsPerMinute: 1 }) });
				expect((await admit('two', { limits: rateLimits({ requestsPerMinute: 1 }) })).isAdmitted).toBe(false);
				expect((await admit('two', { limits: rateLimits({ requestsPerMinute: 2 }) })).isAdmitted).toBe(true);
			});
		});

		describe('tokens of a minute', () => {
			beforeEach(() => know());
			const limits = rateLimits({ tokensPerMinute: 100 });
			const used = async () => (await there.read('red', [], limits)).rates[0];

			test('are reserved while requests run, and counted when they end, in the minute of their admission', async () => {
				expect(await admit('one', { limits, reservedTokens: 60 })).toMatchObject({
					reading: { rates: [{ kind: 'tpm', used: 0, reserved: 60 }] },
				});
				expect((await admit('two', { limits, reservedTokens: 60 }, there)).isAdmitted).toBe(true);
				expect(await admit('three', { limits, reservedTokens: 1 })).toMatchObject({ isAdmitted: false, binding: 'tpm' });
				await settle('one', { tokens: 10 });
				expect(await used()).toEqual({ kind: 'tpm', used: 10, reserved: 60 });
				await here.release('two', 'red');
				expect(await used()).toEqual({ kind: 'tpm', used: 10, reserved: 0 });
				await after(55_000);
				expect(await used()).toEqual({ kind: 'tpm', used: 0, reserved: 0 });
			});

			test('of a request that ends in a later minute count in none', async () => {
				await admit('one', { limits, reservedTokens: 60 });
				await after(55_000);
				await admit('two', { limits, reservedTokens: 7 });
				await settle('one', { tokens: 90 });
				expect(await used()).toEqual({ kind: 'tpm', used: 0, reserved: 7 });
				expect((await there.read('red', [])).tokensToday).toBe(90);
			});

			test('of any number of requests at once as many are admitted as one after the other', async () => {
				const requested = Array.from({ length: 300 }, (_, index) =>
					admit(`r${index}`, { limits, reservedTokens: 30 }, index % 2 ? here : there),
				);
				expect((await Promise.all(requested)).filter(({ isAdmitted }) => isAdmitted)).toHaveLength(4);
			});

			test('expire with their reservation', async () => {
				await admit('one', { limits, reservedTokens: 60, reservationMs: 10_000 });
				await after(11_000);
				expect(await used()).toEqual({ kind: 'tpm', used: 0, reserved: 0 });
			});
		});

		describe('requests in flight', () => {
			beforeEach(() => know());
			const limits = rateLimits({ concurrentRequests: 3 });

			test('are admitted up to the limit at any concurrency, and again when one has ended', async () => {
				const requested = Array.from({ length: 300 }, (_, index) => admit(`r${index}`, { limits }, index % 2 ? here : there));
				const admitted = (await Promise.all(requested)).map(({ isAdmitted }, index) => ({ isAdmitted, id: `r${index}` }));
				const [one, two, three, ...others] = admitted.filter(({ isAdmitted }) => isAdmitted).map(({ id }) => id);
				expect([three === undefined, others]).toEqual([false, []]);
				expect(await admit('late', { limits })).toMatchObject({ binding: 'concurrent_requests', reading: { rates: [{ used: 3 }] } });
				await settle(one ?? '');
				expect((await admit('next', { limits })).isAdmitted).toBe(true);
				await here.release(two ?? '', 'red');
				expect((await admit('another', { limits })).isAdmitted).toBe(true);
				expect((await admit('more', { limits })).isAdmitted).toBe(false);
			});

			test('of a process that died are not in flight once their reservations have expired', async () => {
				for (const id of ['one', 'two', 'three']) await admit(id, { limits, reservationMs: 10_000 });
				expect((await admit('four', { limits })).isAdmitted).toBe(false);
				await after(11_000);
				expect(await admit('four', { limits })).toMatchObject({ isAdmitted: true, reading: { rates: [{ used: 1 }] } });
			});
		});

		describe('limits of models', () => {
			beforeEach(() => know());
			const models = { 'gpt-*': { requestsPerMinute: 2, tokensPerMinute: 100 }, 'claude-*': { requestsPerMinute: 2 } };
			const [gptRequests, claudeRequests, gptTokens] = rateLimits({ models }).toSorted((one, other) => (one.kind < other.kind ? -1 : 1));
			const of = (...limits: (RateLimit | undefined)[]) => limits.filter((limit) => limit !== undefined);

			test('count only the requests that name them', async () => {
				await admit('one', { limits: of(gptRequests, gptTokens), reservedTokens: 10 });
				await admit('two', { limits: of(gptRequests, gptTokens), reservedTokens: 10 });
				await admit('three', { limits: of(claudeRequests) });
				expect(await admit('four', { limits: of(gptRequests) })).toMatchObject({ isAdmitted: false, binding: 'rpm', models: 'gpt-*' });
				expect(await admit('five', { limits: of(claudeRequests) })).toMatchObject({
					isAdmitted: true,
					reading: { requestsThisMinute: 4, rates: [{ kind: 'rpm', models: 'claude-*', used: 2, reserved: 0 }] },
				});
				expect((await there.read('red', [], of(gptTokens))).rates).toEqual([{ kind: 'tpm', models: 'gpt-*', used: 0, reserved: 20 }]);
			});

			test('without a number are counted, and reject nothing', async () => {
				const counted = of(gptRequests).map((limit): RateLimit => ({ ...limit, limit: null }));
				for (const id of ['one', 'two', 'three']) expect((await admit(id, { limits: counted })).isAdmitted).toBe(true);
				expect((await there.read('red', [], counted)).rates).toMatchObject([{ used: 3 }]);
			});
		});

		describe('tokens of a day', () => {
			beforeEach(() => know());

			test('are those settled; once the limit is reached nothing more is admitted', async () => {
				await admit('one', { limits: rateLimits({ dailyTokens: 100 }) });
				await settle('one', { tokens: 99 });
				expect((await admit('two', { limits: rateLimits({ dailyTokens: 100 }) })).isAdmitted).toBe(true);
				await settle('two', { tokens: 50 });
				expect(await admit('three', { limits: rateLimits({ dailyTokens: 100 }) })).toMatchObject({
					isAdmitted: false,
					binding: 'daily_tokens',
					reading: { tokensToday: 149 },
				});
				expect((await there.read('red', [])).requestsThisMinute).toBe(2);
			});

			test('are reserved while requests run: what reaches the limit with them is rejected, and admitted once they ended', async () => {
				const query = (id: string, reservedTokens: number, store = here) =>
					admit(id, { limits: rateLimits({ dailyTokens: 100 }), reservedTokens }, store);
				expect(await query('one', 60)).toMatchObject({ isAdmitted: true, reading: { tokensToday: 0, reservedTokens: 60 } });
				expect(await query('two', 60, there)).toMatchObject({ isAdmitted: true, reading: { reservedTokens: 120 } });
				expect(await query('three', 1)).toMatchObject({ binding: 'daily_tokens', reading: { tokensToday: 0, reservedTokens: 120 } });
				await settle('one', { tokens: 10 });
				expect(await there.read('red', [])).toMatchObject({ tokensToday: 10, reservedTokens: 60 });
				expect(await query('three', 500)).toMatchObject({ isAdmitted: true, reading: { reservedTokens: 560 } });
				await here.release('two', 'red');
				await here.release('three', 'red');
				expect(await there.read('red', [])).toMatchObject({ tokensToday: 10, reservedTokens: 0 });
			});

			test('whatever a request reserves, with none in flight it is admitted while used tokens are below the limit', async () => {
				await settle('before', { tokens: 99 });
				expect((await admit('one', { limits: rateLimits({ dailyTokens: 100 }), reservedTokens: 1_000_000 })).isAdmitted).toBe(true);
			});

			test('of any number of requests at once as many are admitted as one after the other', async () => {
				const requested = Array.from({ length: 300 }, (_, index) =>
					admit(`r${index}`, { limits: rateLimits({ dailyTokens: 1000 }), reservedTokens: 300 }, index % 2 ? here : there),
				);
				expect((await Promise.all(requested)).filter(({ isAdmitted }) => isAdmitted)).toHaveLength(4);
				expect((await there.read('red', [])).reservedTokens).toBe(1200);
			});

			test('are reserved once for a request that is admitted twice, and not for a rejected one', async () => {
				await admit('one', { reservedTokens: 5 });
				await admit('one', { reservedTokens: 5 }, there);
				await admit('two', { limits: rateLimits({ requestsPerMinute: 1 }), reservedTokens: 5 });
				expect((await here.read('red', [])).reservedTokens).toBe(5);
			});

			test('are released when their request never ends', async () => {
				await admit('one', { reservedTokens: 5, reservationMs: 10_000 });
				await after(11_000);
				expect((await there.read('red', [])).reservedTokens).toBe(0);
			});

			test('of requests of yesterday are not reserved today', async () => {
				const midnightMs = Date.UTC(2026, 10, 22);
				await subject.setNow(midnightMs - 1000);
				await admit('one', { reservedTokens: 5 });
				await admit('two', { reservedTokens: 7 });
				await subject.setNow(midnightMs);
				expect((await there.read('red', [])).reservedTokens).toBe(0);
				await admit('three', { reservedTokens: 11 });
				await settle('one');
				expect((await there.read('red', [])).reservedTokens).toBe(11);
				await subject.setNow(midnightMs + 86_400_000);
				await settle('two', { tokens: 3 });
				await settle('three', { tokens: 3 });
				expect(await there.read('red', [])).toMatchObject({ tokensToday: 0, reservedTokens: 0 });
			});

			test('that a store has forgotten are reserved again, those of another day are not', async () => {
				const request = { reservationMs: 60_000, reservations: [], reservedTokens: 5 };
				await here.restoreReservations('red', [
					{ ...request, id: 'today', admittedMs: contractStartMs },
					{ ...request, id: 'yesterday', admittedMs: contractStartMs - 86_400_000 },
				]);
				expect((await there.read('red', [])).reservedTokens).toBe(5);
				await settle('yesterday');
				await settle('today');
				expect((await there.read('red', [])).reservedTokens).toBe(0);
			});

			test('stay reserved while the request’s money is raised', async () => {
				await know([month]);
				const reservation = { ...month, amountNanoUsd: 1n, limitNanoUsd: 100n, check: 'after' as const };
				await admit('one', { reservedTokens: 5, reservations: [reservation] });
				expect(await here.extend('one', 'red', [{ ...reservation, amountNanoUsd: 9n }])).toBe(true);
				expect(await there.read('red', [month])).toMatchObject({ reservedTokens: 5, budgets: [{ reservedNanoUsd: 9n }] });
				await settle('one', { budgets: [month] });
				expect(await there.read('red', [month])).toMatchObject({ reservedTokens: 0, budgets: [{ reservedNanoUsd: 0n }] });
			});

			test('belong to the UTC day in which the request was admitted, by the store’s clock', async () => {
				await subject.setNow(Date.UTC(2026, 10, 21, 23, 59, 59, 999));
				await admit('one');
				await admit('two');
				await settle('one', { tokens: 10 });
				expect((await here.read('red', [])).tokensToday).toBe(10);
				await subject.setNow(Date.UTC(2026, 10, 22));
				expect((await here.read('red', [])).tokensToday).toBe(0);
				await admit('three');
				await settle('two', { tokens: 7, admittedMs: Date.UTC(2026, 10, 22) });
				expect((await there.read('red', [])).tokensToday).toBe(0);
				await settle('three', { tokens: 5, admittedMs: Date.UTC(2026, 10, 21) });
				expect((await there.read('red', [])).tokensToday).toBe(5);
			});

			test('of a request without a reservation belong to the day that the caller passes', async () => {
				await subject.setNow(Date.UTC(2026, 10, 22, 0, 0, 1));
				const reserved = { id: 'held', admittedMs: Date.UTC(2026, 10, 22) - 1, reservationMs: 60_000, reservations: [] };
				await here.restoreReservations('red', [reserved, { ...reserved, id: 'new', admittedMs: Date.UTC(2026, 10, 22) }]);
				await settle('held', { tokens: 1, admittedMs: Date.UTC(2026, 10, 22) });
				await settle('new', { tokens: 2, admittedMs: 0 });
				await settle('unheld', { tokens: 4, admittedMs: Date.UTC(2026, 10, 22) - 1 });
				await settle('ahead', { tokens: 8, admittedMs: Date.UTC(2026, 10, 23) });
				expect((await there.read('red', [])).tokensToday).toBe(10);
			});
		});

		describe('budgets', () => {
			const reserving = (
				amountNanoUsd: bigint,
				limitNanoUsd: bigint,
				check: BudgetReservation['check'] = 'after',
				of = month,
			): BudgetReservation => ({
				...of,
				amountNanoUsd,
				limitNanoUsd,
				check,
			});

			beforeEach(() => know([month, model]));

			test('`before` admits until settled and reserved cost have reached the limit', async () => {
				expect((await admit('one', { reservations: [reserving(99n, 100n, 'before')] })).isAdmitted).toBe(true);
				expect((await admit('two', { reservations: [reserving(99n, 100n, 'before')] })).isAdmitted).toBe(true);
				expect(await admit('three', { reservations: [reserving(0n, 100n, 'before')] })).toMatchObject({
					isAdmitted: false,
					binding: 'budget',
					budget: 'month',
					reading: { budgets: [{ ...month, settledNanoUsd: 0n, reservedNanoUsd: 198n }] },
				});
			});

			test('`after` never goes beyond the limit by one nano-dollar', async () => {
				expect((await admit('one', { reservations: [reserving(60n, 100n)] })).isAdmitted).toBe(true);
				expect((await admit('two', { reservations: [reserving(41n, 100n)] })).isAdmitted).toBe(false);
				expect((await admit('two', { reservations: [reserving(40n, 100n)] })).isAdmitted).toBe(true);
				expect((await admit('three', { reservations: [reserving(0n, 100n)] })).isAdmitted).toBe(false);
			});

			test('are exact far beyond the precision of a floating-point number', async () => {
				const bound = 2n ** 53n;
				for (const limit of [bound - 1n, bound, bound + 1n, 10n ** 18n + 1n, 999_999_999n, 1_000_000_000n]) {
					const big = { budget: `big-${limit}`, period: '2026-11' };
					await know([{ ...big, settledNanoUsd: limit - 3n }]);
					expect((await admit(`a${limit}`, { reservations: [reserving(4n, limit, 'after', big)] })).isAdmitted).toBe(false);
					expect((await admit(`b${limit}`, { reservations: [reserving(2n, limit, 'after', big)] })).isAdmitted).toBe(true);
					expect((await admit(`c${limit}`, { reservations: [reserving(2n, limit, 'after', big)] })).isAdmitted).toBe(false);
					expect(await money(big)).toEqual([[limit - 3n, 2n]]);
					await settle(`b${limit}`, { costNanoUsd: 2n, budgets: [big] });
					expect((await admit(`d${limit}`, { reservations: [reserving(2n, limit, 'after', big)] })).isAdmitted).toBe(false);
					expect((await admit(`e${limit}`, { reservations: [reserving(1n, limit, 'after', big)] })).isAdmitted).toBe(true);
					expect(await money(big)).toEqual([[limit - 1n, 1n]]);
				}
			});

			test('a rejection changes nothing, whichever limit binds', async () => {
				await admit('first', { reservations: [reserving(90n, 100n, 'after', model)] });
				await settle('first', { tokens: 10, costNanoUsd: 90n, budgets: [model] });
				const before = await there.read('red', [month, model]);
				const reservations = [reserving(50n, 1000n), reserving(11n, 100n, 'after', model)];
				expect(await admit('two', { reservations })).toMatchObject({ binding: 'budget', budget: 'model', reading: before });
				expect(await admit('two', { limits: rateLimits({ dailyTokens: 10 }) })).toMatchObject({ binding: 'daily_tokens' });
				expect(await admit('two', { limits: rateLimits({ requestsPerMinute: 1 }), reservations: [reserving(1n, 100n)] })).toMatchObject({
					binding: 'rpm',
				});
				expect(await there.read('red', [month, model])).toEqual(before);
				expect(await here.extend('two', 'red', [reserving(1n, 100n)])).toBe(false);
			});

			test('are taken together or not at all, by any number at once', async () => {
				const query = (_: unknown, index: number) =>
					admit(
						`r${index}`,
						{ limits: rateLimits({ requestsPerMinute: 90 }), reservations: [reserving(10n, 700n), reserving(10n, 500n, 'after', model)] },
						index % 2 ? here : there,
					);
				const admitted = (await Promise.all(Array.from({ length: 300 }, query))).filter(({ isAdmitted }) => isAdmitted);
				expect(admitted).toHaveLength(50);
				expect(await there.read('red', [month, model])).toMatchObject({
					requestsThisMinute: 50,
					budgets: [{ reservedNanoUsd: 500n }, { reservedNanoUsd: 500n }],
				});
			});

			test('of the same name in another team or period are others', async () => {
				const december = { budget: 'month', period: '2026-12' };
				await know([december]);
				await know([month], 'blue');
				await admit('one', { reservations: [reserving(100n, 100n)] });
				expect((await admit('two', { reservations: [reserving(100n, 100n, 'after', december)] })).isAdmitted).toBe(true);
				expect((await admit('one', { team: 'blue', reservations: [reserving(100n, 100n)] })).isAdmitted).toBe(true);
			});

			test('a request is booked on the month in which it was admitted', async () => {
				const december = { budget: 'month', period: '2026-12' };
				await subject.setNow(Date.UTC(2026, 10, 30, 23, 59, 58));
				await know([month]);
				await admit('one', { reservations: [reserving(50n, 100n)] });
				await subject.setNow(Date.UTC(2026, 11, 1));
				await know([december]);
				await admit('two', { reservations: [reserving(5n, 100n, 'after', december)] });
				await settle('one', { costNanoUsd: 30n, budgets: [month] });
				expect(await money(month, december)).toEqual([
					[30n, 0n],
					[0n, 5n],
				]);
			});
		});

		describe('the end of a request', () => {
			const reservations = [{ ...month, amountNanoUsd: 50n, limitNanoUsd: 100n, check: 'after' as const }];
			const cost = { tokens: 3, costNanoUsd: 30n, budgets: [month] };

			beforeEach(async () => {
				await know([month, model]);
				await admit('one', { reservations, reservationMs: 60_000 });
			});

			test('a settlement books the cost and ends the reservation', async () => {
				expect(await settle('one', cost)).toEqual({
					isDuplicate: false,
					isLate: false,
					budgets: [{ ...month, settledNanoUsd: 30n, reservedNanoUsd: 0n }],
				});
				expect(await there.read('red', [month])).toMatchObject({ tokensToday: 3, requestsThisMinute: 1 });
			});

			test('a settlement may exceed its reservation and the limit: the money was spent', async () => {
				expect((await settle('one', { costNanoUsd: 500n, budgets: [month] })).budgets).toEqual([
					{ ...month, settledNanoUsd: 500n, reservedNanoUsd: 0n },
				]);
			});

			test('a second settlement changes nothing and says so', async () => {
				await settle('one', cost);
				const again = { id: 'one', team: 'red', admittedMs: contractStartMs, ...cost };
				expect(await there.settle(again)).toEqual({
					isDuplicate: true,
					isLate: false,
					budgets: [{ ...month, settledNanoUsd: 30n, reservedNanoUsd: 0n }],
				});
				await subject.setNow(contractStartMs + endedRetentionMs - 1000);
				expect((await there.settle(again)).isDuplicate).toBe(true);
				expect((await there.read('red', [month])).budgets[0]?.settledNanoUsd).toBe(30n);
			});

			test('a release gives the money back and nothing else; the second changes nothing', async () => {
				await here.release('one', 'red');
				await there.release('one', 'red');
				expect(await there.read('red', [month])).toMatchObject({
					requestsThisMinute: 1,
					budgets: [{ settledNanoUsd: 0n, reservedNanoUsd: 0n }],
				});
			});

			test('the first of settlement and release wins', async () => {
				await here.release('one', 'red');
				expect((await settle('one', cost)).isDuplicate).toBe(true);
				await admit('two', { reservations });
				await settle('two', cost);
				await here.release('two', 'red');
				expect(await money(month)).toEqual([[30n, 0n]]);
			});

			test('a release that overtakes its admission leaves no reservation', async () => {
				await here.release('two', 'red');
				await admit('two', { reservations });
				expect(await money(month)).toEqual([[0n, 50n]]);
			});

			test('a reservation that is never settled is released when it expires, and its settlement is recorded as late', async () => {
				await after(59_999);
				expect(await money(month)).toEqual([[0n, 50n]]);
				expect(
					(await admit('two', { reservations: [{ ...month, amountNanoUsd: 51n, limitNanoUsd: 100n, check: 'after' }] })).isAdmitted,
				).toBe(false);
				await after(61_000);
				expect(await money(month)).toEqual([[0n, 0n]]);
				expect(
					(await admit('two', { reservations: [{ ...month, amountNanoUsd: 51n, limitNanoUsd: 100n, check: 'after' }] })).isAdmitted,
				).toBe(true);
				expect(await settle('one', cost)).toMatchObject({
					isLate: true,
					isDuplicate: false,
					budgets: [{ settledNanoUsd: 30n, reservedNanoUsd: 51n }],
				});
				expect(await settle('one', cost)).toMatchObject({ isLate: false, isDuplicate: true, budgets: [{ settledNanoUsd: 30n }] });
			});

			test('thousands of reservations that end at once are all released', async () => {
				const many = Array.from({ length: 2500 }, (_, index) =>
					admit(`m${index}`, { reservations: [{ ...month, amountNanoUsd: 1n, limitNanoUsd: 10_000n, check: 'after' }] }),
				);
				await Promise.all(many);
				expect(await money(month)).toEqual([[0n, 2550n]]);
				await after(61_000);
				for (let turn = 0; turn < 3; turn++) await here.read('red', [month]);
				expect(await money(month)).toEqual([[0n, 0n]]);
			});

			test('a settlement of a request that was never admitted is booked late', async () => {
				expect(await settle('never', cost)).toMatchObject({
					isLate: true,
					isDuplicate: false,
					budgets: [{ settledNanoUsd: 30n, reservedNanoUsd: 50n }],
				});
			});

			test('a reservation is raised as far as it would have been admitted, never lowered, and only while it is open', async () => {
				const raise = (amountNanoUsd: bigint, of = month) =>
					here.extend('one', 'red', [{ ...of, amountNanoUsd, limitNanoUsd: 100n, check: 'after' }]);
				expect(await raise(101n)).toBe(false);
				expect(await money(month)).toEqual([[0n, 50n]]);
				expect(await raise(100n)).toBe(true);
				expect(await raise(10n)).toBe(true);
				expect(await money(month)).toEqual([[0n, 100n]]);
				expect(await raise(7n, model)).toBe(true);
				expect(await money(month, model)).toEqual([
					[0n, 100n],
					[0n, 7n],
				]);
				await settle('one', { costNanoUsd: 1n, budgets: [month, model] });
				expect(await money(month, model)).toEqual([
					[1n, 0n],
					[1n, 0n],
				]);
				expect(await raise(60n)).toBe(false);
			});

			test('a reservation grows by a part of what is left, by the least step at the end, and never beyond', async () => {
				const grow = (amountNanoUsd: bigint, minNanoUsd = 3n) =>
					here.grow('one', 'red', [{ ...month, amountNanoUsd, limitNanoUsd: 370n, check: 'fit', minNanoUsd }], 60_000);
				// 320 are left, and one of 32 parts is 10.
				expect(await grow(1000n)).toBe(60n);
				expect(await grow(55n)).toBe(55n);
				expect(await money(month)).toEqual([[0n, 60n]]);
				expect(await grow(64n)).toBe(64n);
				await settle('other', { costNanoUsd: 301n, budgets: [month] });
				expect(await grow(1000n)).toBe(67n);
				expect(await grow(1000n)).toBe(69n);
				expect(await grow(1000n)).toBe(69n);
				await settle('third', { costNanoUsd: 1000n, budgets: [month] });
				expect(await grow(1000n)).toBe(69n);
				await settle('one');
				expect(await grow(1000n)).toBeUndefined();
			});

			test('a reservation of several budgets grows by what the tightest has left', async () => {
				const both = [month, model].map((one, index) => ({
					...one,
					amountNanoUsd: 90n,
					limitNanoUsd: index === 0 ? 52n : 1000n,
					check: 'fit' as const,
					minNanoUsd: 1n,
				}));
				expect(await here.grow('one', 'red', both, 60_000)).toBe(31n);
				expect(await money(month, model)).toEqual([
					[0n, 50n],
					[0n, 31n],
				]);
			});

			test('a reservation that is renewed outlasts the time of its admission', async () => {
				await after(40_000);
				expect(await here.grow('one', 'red', [], 60_000)).toBe(0n);
				await after(61_000);
				expect(await money(month)).toEqual([[0n, 50n]]);
				await after(101_000);
				expect(await money(month)).toEqual([[0n, 0n]]);
			});

			test('`fit` reserves what is left and says how much; with less than the least it rejects', async () => {
				const fit = { ...month, amountNanoUsd: 40n, limitNanoUsd: 100n, check: 'fit' as const, minNanoUsd: 30n };
				expect(await admit('two', { reservations: [fit] })).toMatchObject({ isAdmitted: true, reservedNanoUsd: 30n });
				expect(await admit('two', { reservations: [fit] })).toMatchObject({ isAdmitted: true, reservedNanoUsd: 30n });
				expect(await admit('three', { reservations: [fit] })).toMatchObject({ isAdmitted: false, binding: 'budget', budget: 'month' });
				expect(await money(month)).toEqual([[0n, 80n]]);
				expect(await admit('four', { reservations: [{ ...fit, minNanoUsd: 20n }] })).toMatchObject({
					isAdmitted: true,
					reservedNanoUsd: 20n,
				});
				expect(await admit('five', { reservations: [{ ...fit, minNanoUsd: 0n }] })).toMatchObject({ isAdmitted: false });
			});

			test('a request may move to another budget: its cost is booked there, and its reservations are released', async () => {
				expect(await here.extend('one', 'red', [{ ...model, amountNanoUsd: 7n, limitNanoUsd: 100n, check: 'after' }])).toBe(true);
				await settle('one', { costNanoUsd: 3n, budgets: [model] });
				expect(await money(month, model)).toEqual([
					[0n, 0n],
					[3n, 0n],
				]);
			});

			test('what does not fit raises nothing, on no budget', async () => {
				const wide = { ...model, amountNanoUsd: 10n, limitNanoUsd: 100n, check: 'after' as const };
				const narrow = { ...month, amountNanoUsd: 60n, limitNanoUsd: 55n, check: 'after' as const };
				expect(await here.extend('one', 'red', [wide, narrow])).toBe(false);
				expect(await money(month, model)).toEqual([
					[0n, 50n],
					[0n, 0n],
				]);
			});
		});

		describe('what is not known', () => {
			const total = { ...month, settledNanoUsd: 40n };
			const reserved = { ...month, amountNanoUsd: 5n, limitNanoUsd: 100n, check: 'after' as const };

			test('is never taken for nothing: a team and a budget in its period have to be restored first', async () => {
				const attempts = (): unknown[] => [
					admit('one', { reservations: [reserved] }),
					settle('one', { budgets: [month] }),
					here.read('red', [month]),
					here.restoreReservations('red', [{ id: 'one', admittedMs: contractStartMs, reservationMs: 1000, reservations: [reserved] }]),
				];
				for (const attempt of attempts()) await expect(attempt).rejects.toThrow(CountersMissing);
				await expect(admit('one')).rejects.toThrow(CountersMissing);
				await expect(here.read('red', [])).rejects.toThrow(CountersMissing);
				await know();
				for (const attempt of attempts()) await expect(attempt).rejects.toThrow(CountersMissing);
				expect((await here.read('red', [])).requestsThisMinute).toBe(0);
				await know([total]);
				expect(await money(month)).toEqual([[40n, 0n]]);
			});

			test('requires nothing for a release, and rejects an extension', async () => {
				await here.release('one', 'red');
				expect(await here.extend('one', 'red', [reserved])).toBe(false);
			});

			test('is restored by the first who does', async () => {
				await Promise.all([
					here.restore({ team: 'red', tokensToday: 7, budgets: [total], endedIds: [] }),
					there.restore({ team: 'red', tokensToday: 7, budgets: [total], endedIds: [] }),
				]);
				await settle('one', { tokens: 1, costNanoUsd: 1n, budgets: [month] });
				await there.restore({ team: 'red', tokensToday: 99, budgets: [{ ...total, settledNanoUsd: 99n }], endedIds: ['two'] });
				expect((await settle('two', { tokens: 1, costNanoUsd: 1n, budgets: [month] })).isLate).toBe(true);
				expect(await there.read('red', [month])).toMatchObject({ tokensToday: 9, budgets: [{ settledNanoUsd: 42n, reservedNanoUsd: 0n }] });
			});

			test('counts no request twice that the totals contain', async () => {
				await here.restore({ team: 'red', tokensToday: 7, budgets: [total], endedIds: ['one', 'two'] });
				expect((await settle('one', { tokens: 7, costNanoUsd: 40n, budgets: [month] })).isDuplicate).toBe(true);
				await here.restoreReservations('red', [{ id: 'two', admittedMs: contractStartMs, reservationMs: 1000, reservations: [reserved] }]);
				expect(await money(month)).toEqual([[40n, 0n]]);
			});

			test('requests in flight are reserved again, beyond any limit, once, and end as they would have', async () => {
				await know([{ ...total, settledNanoUsd: 99n }]);
				const requests = Array.from({ length: 250 }, (_, index) => ({
					id: `c${index}`,
					admittedMs: contractStartMs,
					reservationMs: 30_000,
					reservations: [reserved],
				}));
				await Promise.all([here.restoreReservations('red', requests), there.restoreReservations('red', requests)]);
				expect(await there.read('red', [month])).toMatchObject({ requestsThisMinute: 0, budgets: [{ reservedNanoUsd: 1250n }] });
				expect(await settle('c0', { costNanoUsd: 1n, budgets: [month] })).toMatchObject({ isLate: false });
				await here.restoreReservations('red', requests);
				expect(await money(month)).toEqual([[100n, 1245n]]);
				await after(31_000);
				expect(await money(month)).toEqual([[100n, 0n]]);
			});

			test('months long past are forgotten when a new one begins', async () => {
				await know(['2026-09', '2026-10', '2026-11', '2026-12'].map((period) => ({ budget: 'month', period })));
				await expect(here.read('red', [{ budget: 'month', period: '2026-10' }])).rejects.toThrow(CountersMissing);
				expect(await money(month, { budget: 'month', period: '2026-12' })).toHaveLength(2);
			});
		});

		test('any sequence of operations agrees with the model', async () => {
			let runs = 0;
			const property = fc.asyncProperty(agreesWithModel.operations, fc.nat(600_000), async (operations, beforeMidnightMs) => {
				const startMs = Date.UTC(2026, 10, 23) - beforeMidnightMs + runs * agreesWithModel.apartMs;
				await agreesWithModel.run(subject, `team-${runs++}`, startMs, operations);
			});
			await fc.assert(property, { numRuns: modelRuns });
			expect(runs).toBeGreaterThanOrEqual(modelRuns);
		}, 600_000);

		test('settled and reserved never exceed the limit in any reading, and in the end nothing is reserved', async () => {
			const request = fc.record({
				amount: fc.bigInt(1n, 40n),
				raise: fc.bigInt(0n, 20n),
				part: fc.nat(100),
				end: fc.constantFrom('settle', 'release', 'abandon'),
			});
			let runs = 0;
			const property = fc.asyncProperty(
				fc.array(request, { minLength: 20, maxLength: 60 }),
				fc.scheduler(),
				async (requests, scheduler) => {
					const team = `bank-${runs++}`;
					const limitNanoUsd = 300n;
					const startMs = contractStartMs + runs * 3_600_000;
					await subject.setNow(startMs);
					await know([month], team);
					let spent = 0n;
					const look = async (store: AdmissionStore): Promise<void> => {
						const [budget] = (await store.read(team, [month])).budgets;
						expect((budget?.settledNanoUsd ?? 0n) + (budget?.reservedNanoUsd ?? 0n)).toBeLessThanOrEqual(limitNanoUsd);
					};
					const lives = requests.map(async ({ amount, raise, part, end }, index) => {
						const store = index % 2 === 0 ? here : there;
						const reservation = { ...month, limitNanoUsd, amountNanoUsd: amount, check: 'after' as const };
						await scheduler.schedule(Promise.resolve());
						if (!(await store.admit({ ...may, id: `${index}`, team, reservations: [reservation] })).isAdmitted) return;
						await scheduler.schedule(look(there));
						const isRaised = await store.extend(`${index}`, team, [{ ...reservation, amountNanoUsd: amount + raise }]);
						await scheduler.schedule(look(here));
						const costNanoUsd = ((amount + (isRaised ? raise : 0n)) * BigInt(part)) / 100n;
						if (end === 'release') await store.release(`${index}`, team);
						if (end !== 'settle') return;
						spent += costNanoUsd;
						await store.settle({ id: `${index}`, team, admittedMs: startMs, tokens: 1, costNanoUsd, budgets: [month] });
					});
					await scheduler.waitFor(Promise.all(lives));
					await subject.setNow(startMs + may.reservationMs + 1000);
					expect((await there.read(team, [month])).budgets).toEqual([{ ...month, settledNanoUsd: spent, reservedNanoUsd: 0n }]);
				},
			);
			await fc.assert(property, { numRuns: Math.min(modelRuns, 30) });
		}, 60_000);
	});
}

function amounts({ settledNanoUsd, reservedNanoUsd }: BudgetReading): [bigint, bigint] {
	return [settledNanoUsd, reservedNanoUsd];
}
