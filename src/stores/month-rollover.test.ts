/** Under load, while day and month change, nothing is lost and nothing counts in the wrong period. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSteeredMemory } from '../../test/support/memory-admission-subject.ts';
import { rateLimits } from '../../test/support/rate-limits.ts';
import { openSteeredRedis } from '../../test/support/redis-admission-subject.ts';
import { type RedisDatabase, shareRedis } from '../../test/support/shared-stores.ts';
import { systemClock } from '../io/system-clock.ts';
import type { AdmissionSubject } from './contracts/admission.contract.ts';
import type { AdmissionStore, Settlement, TeamTotals } from './contracts/admission.ts';
import { restoreMissing, type SumUpTeam } from './restoring-admission.ts';

const tickMs = Date.UTC(2026, 11, 1);
const msPerDay = 86_400_000;
const workersPerStore = 20;
const stepMs = 10;
const steps = 120;
const limitNanoUsd = 10n ** 15n;

let redis: RedisDatabase;
beforeAll(async () => {
	redis = await shareRedis();
});
afterAll(() => redis.stop());

describe.each<{ name: string; open: () => Promise<AdmissionSubject>; gateways: 1 | 2 }>([
	{ name: 'memory, one gateway', open: async () => createSteeredMemory(), gateways: 1 },
	{ name: 'Redis, one gateway', open: () => openSteeredRedis(redis), gateways: 1 },
	{ name: 'Redis, two gateways', open: () => openSteeredRedis(redis), gateways: 2 },
])('$name', ({ open, gateways }) => {
	test('each request counts in the day and the month in which it was admitted, whenever it ends', async () => {
		const subject = await open();
		const ledgerView = new LedgerView();
		let nowMs = tickMs - (steps * stepMs) / 2;
		await subject.setNow(nowMs);
		let isOver = false;
		const work = async (store: AdmissionStore, gateway: number, worker: number): Promise<void> => {
			for (let number = 0; !isOver; number++) {
				const id = `${gateway}-${worker}-${number}`;
				const period = nowMs < tickMs ? '2026-11' : '2026-12';
				const reservation = { budget: 'all', period, limitNanoUsd, amountNanoUsd: 100n, check: 'before' as const };
				const request = { id, team: 'red', limits: rateLimits({ dailyTokens: 1e9 }), reservations: [reservation], reservationMs: 60_000 };
				const { isAdmitted, reading } = await store.admit(request);
				expect(isAdmitted).toBe(true);
				// Some end at once, others after midnight.
				await new Promise((resolve) => setTimeout(resolve, number % 7 === worker % 7 ? 50 + 20 * worker : 1));
				const settlement = {
					id,
					team: 'red',
					admittedMs: reading.nowMs,
					tokens: 1 + (number % 5),
					costNanoUsd: 7n,
					budgets: [reservation],
				};
				ledgerView.close(settlement);
				await store.settle(settlement);
			}
		};
		const stores = subject.stores.slice(0, gateways).map((store) =>
			restoring(
				store,
				ledgerView.sumUpAt(() => nowMs),
			),
		);
		const working = Promise.all(
			stores.flatMap((store, index) => Array.from({ length: workersPerStore }, (_, worker) => work(store, index, worker))),
		);
		for (let step = 0; step < steps; step++) {
			await new Promise((resolve) => setTimeout(resolve, stepMs));
			nowMs += stepMs;
			await subject.setNow(nowMs);
		}
		isOver = true;
		await working;

		const reading = await subject.stores[0].read('red', [
			{ budget: 'all', period: '2026-11' },
			{ budget: 'all', period: '2026-12' },
		]);
		expect(reading.tokensToday).toBe(ledgerView.tokensOf(nowMs));
		expect(reading.budgets).toMatchObject(
			['2026-11', '2026-12'].map((period) => ({ period, settledNanoUsd: ledgerView.spentIn(period), reservedNanoUsd: 0n })),
		);
		// Otherwise the test proves nothing.
		expect(ledgerView.tokensOf(tickMs - 1)).toBeGreaterThan(100);
		expect(ledgerView.tokensOf(tickMs)).toBeGreaterThan(100);
		expect(ledgerView.endedAfterTheirDay(tickMs)).toBeGreaterThan(0);
		await subject.dispose();
	});
});

function restoring(store: AdmissionStore, sumUp: SumUpTeam): AdmissionStore {
	return restoreMissing(store, { clock: systemClock, sumUp, endedSinceMs: () => 0 });
}

/** The ledger from which counters are restored. */
class LedgerView {
	readonly #rows: Settlement[] = [];

	close(settlement: Settlement): void {
		this.#rows.push(settlement);
	}

	sumUpAt(nowMs: () => number): SumUpTeam {
		return async (team, budgets): Promise<TeamTotals> => ({
			team,
			tokensToday: this.tokensOf(nowMs()),
			budgets: budgets.map((one) => ({ ...one, settledNanoUsd: this.spentIn(one.period) })),
			endedIds: this.#rows.map(({ id }) => id),
		});
	}

	/** @param timeMs any time of the day. */
	tokensOf(timeMs: number): number {
		return this.#sum(({ admittedMs }) => Math.floor(admittedMs / msPerDay) === Math.floor(timeMs / msPerDay));
	}

	spentIn(period: string): bigint {
		return this.#rows.filter(({ budgets }) => budgets[0]?.period === period).reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0n);
	}

	/** Requests of the old day that ended in the new one. */
	endedAfterTheirDay(dayMs: number): number {
		const first = this.#rows.findIndex(({ admittedMs }) => admittedMs >= dayMs);
		return this.#rows.slice(first).filter(({ admittedMs }) => admittedMs < dayMs).length;
	}

	#sum(isCounted: (row: Settlement) => boolean): number {
		return this.#rows.filter(isCounted).reduce((sum, { tokens }) => sum + tokens, 0);
	}
}
