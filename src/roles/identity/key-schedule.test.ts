import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type KeyTimes, nextRotationMs, planRotation, publishedKeys, signingKey } from './key-schedule.ts';

test('the first key signs at once; the next is published for the overlap before it signs', () => {
	const schedule = { rotationMs: 1000, overlapMs: 100, accessTokenMs: 300 };
	const { activeFromMs } = planRotation(undefined, 5, schedule);
	expect(activeFromMs).toBe(5);
	const first = { activeFromMs: 5, retiredAtMs: null };
	expect(nextRotationMs(first, schedule)).toBe(905);
	expect(planRotation(first, 905, schedule)).toEqual({ activeFromMs: 1005, newestRetiresAtMs: 1405 });
	expect(planRotation(first, 50_000, schedule)).toEqual({ activeFromMs: 50_100, newestRetiresAtMs: 50_500 });
});

test('before any key is active the oldest signs, as when the clock went back', () => {
	const keys = [1000, 2000].map((activeFromMs) => ({ activeFromMs, retiredAtMs: null }));
	expect(signingKey(keys, 10)).toBe(keys[0]);
	expect(signingKey([], 10)).toBeUndefined();
});

test('at any moment the signing key is published, was for the overlap, and will be until its tokens have expired', () => {
	const schedules = fc.record({ rotationMs: fc.integer({ min: 2, max: 500 }), overlapMs: fc.nat(400), accessTokenMs: fc.nat(900) });
	fc.assert(
		fc.property(schedules, fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 10, maxLength: 60 }), (schedule, steps) => {
			const keys: (KeyTimes & { publishedAtMs: number; retiredAtMs: number | null })[] = [];
			const signed: { key: KeyTimes; untilMs: number }[] = [];
			let nowMs = 0;
			for (const step of steps) {
				nowMs += step;
				const newest = keys.at(-1);
				if (newest === undefined || nowMs >= nextRotationMs(newest, schedule)) {
					const plan = planRotation(newest, nowMs, schedule);
					if (newest !== undefined) newest.retiredAtMs = plan.newestRetiresAtMs;
					keys.push({ activeFromMs: plan.activeFromMs, retiredAtMs: null, publishedAtMs: nowMs });
				}
				const signing = signingKey(keys, nowMs);
				const published = publishedKeys(keys, nowMs);
				if (signing === undefined) throw new Error('nothing signs');
				expect(published).toContain(signing);
				if (signing !== keys[0]) expect(nowMs - signing.publishedAtMs).toBeGreaterThanOrEqual(schedule.overlapMs);
				signed.push({ key: signing, untilMs: nowMs + schedule.accessTokenMs });
				for (const { key, untilMs } of signed) if (untilMs >= nowMs) expect(published).toContain(key);
			}
		}),
	);
});
