import fc from 'fast-check';
import { expect, test } from 'vitest';
import { maxDeliveryAgeMs, nextAttemptMs, retryDelayMs } from './retry-delay.ts';

test('delays double from one second to one hour', () => {
	const delays = Array.from({ length: 15 }, (_, index) => retryDelayMs(index + 1, () => 1) / 1000);
	expect(delays).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600, 3600, 3600]);
});

test('chance removes up to half of a delay', () => {
	fc.assert(
		fc.property(fc.integer({ min: 1, max: 2000 }), fc.double({ min: 0, max: 0.999999, noNaN: true }), (attempts, chance) => {
			const fullMs = Math.min(3_600_000, 1000 * 2 ** (attempts - 1));
			const delayMs = retryDelayMs(attempts, () => chance);
			expect(delayMs).toBeGreaterThanOrEqual(fullMs / 2);
			expect(delayMs).toBeLessThanOrEqual(fullMs);
		}),
	);
});

test('a receiver that never accepts is tried for a day, with at most sixty attempts', () => {
	fc.assert(
		fc.property(fc.double({ min: 0, max: 0.999999, noNaN: true }), (chance) => {
			let attempts = 1;
			let nowMs = 5000;
			for (let nextMs = nextAttemptMs(5000, attempts, nowMs, () => chance); nextMs !== undefined; attempts++) {
				nowMs = nextMs;
				nextMs = nextAttemptMs(5000, attempts + 1, nowMs, () => chance);
			}
			expect(nowMs - 5000).toBeLessThanOrEqual(maxDeliveryAgeMs);
			expect(nowMs - 5000).toBeGreaterThan(maxDeliveryAgeMs - 3_600_001);
			expect(attempts).toBeGreaterThan(30);
			expect(attempts).toBeLessThan(62);
		}),
	);
});
