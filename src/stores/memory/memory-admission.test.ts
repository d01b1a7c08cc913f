import { expect, test } from 'vitest';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { createSteeredMemory } from '../../../test/support/memory-admission-subject.ts';
import { rateLimits } from '../../../test/support/rate-limits.ts';
import { admissionContract } from '../contracts/admission.contract.ts';
import { CountersMissing } from '../contracts/admission.ts';
import { createMemoryAdmission } from './memory-admission.ts';

admissionContract('memory', async () => createSteeredMemory(), { modelRuns: 300 });

const month = { budget: 'month', period: '2026-11' };
const reservation = { ...month, limitNanoUsd: 10n ** 15n, amountNanoUsd: 1n, check: 'after' as const };

test('100,000 reservations that expire at once delay no request, and are all released', async () => {
	const clock = new ManualClock();
	const store = createMemoryAdmission({ clock });
	await store.restore({ team: 'red', tokensToday: 0, endedIds: [], budgets: [{ ...month, settledNanoUsd: 0n }] });
	for (let index = 0; index < 100_000; index++) {
		await store.admit({
			id: `r${index}`,
			team: 'red',
			limits: [],
			reservations: [reservation],
			reservationMs: 60_000,
		});
	}
	clock.advance(61_000);
	const reserved: (bigint | undefined)[] = [];
	const { user } = process.threadCpuUsage();
	for (let turn = 0; turn < 50; turn++) reserved.push((await store.read('red', [month])).budgets[0]?.reservedNanoUsd);
	const workedMs = (process.threadCpuUsage().user - user) / 1000;
	expect(workedMs / 50).toBeLessThan(10);
	expect(reserved).toEqual(Array.from({ length: 50 }, (_, turn) => BigInt(98_000 - 2000 * turn)));
});

test('unused data expires: ended requests, and teams', async () => {
	const clock = new ManualClock();
	const store = createMemoryAdmission({ clock });
	await store.restore({ team: 'red', tokensToday: 0, endedIds: ['old'], budgets: [] });
	const isDuplicate = async () =>
		(await store.settle({ id: 'old', team: 'red', admittedMs: 0, tokens: 1, costNanoUsd: 0n, budgets: [] })).isDuplicate;
	clock.advance(10 * 60_000);
	expect(await isDuplicate()).toBe(true);
	clock.advance(31 * 60_000);
	expect(await isDuplicate()).toBe(false);
	clock.advance(47 * 3_600_000);
	expect((await store.read('red', [])).requestsThisMinute).toBe(0);
	for (let day = 0; day < 7; day++) {
		clock.advance(24 * 3_600_000);
		await store.read('red', []);
	}
	clock.advance(97 * 3_600_000);
	await expect(store.read('red', [])).rejects.toThrow(CountersMissing);
});

test('a clock that jumps back loses neither reservations nor spent money', async () => {
	const clock = new ManualClock();
	const store = createMemoryAdmission({ clock });
	await store.restore({ team: 'red', tokensToday: 0, endedIds: [], budgets: [{ ...month, settledNanoUsd: 5n }] });
	await store.admit({
		id: 'one',
		team: 'red',
		limits: rateLimits({ requestsPerMinute: 1 }),
		reservations: [reservation],
		reservationMs: 60_000,
	});
	clock.jumpWallTo(clock.nowMs() - 3_600_000);
	expect((await store.read('red', [month])).budgets).toEqual([{ ...month, settledNanoUsd: 5n, reservedNanoUsd: 1n }]);
	expect((await store.settle({ id: 'one', team: 'red', admittedMs: 0, tokens: 1, costNanoUsd: 2n, budgets: [month] })).isLate).toBe(false);
});
