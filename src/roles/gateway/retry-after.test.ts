import { expect, it } from 'vitest';
import { readRetryAfterMs } from './retry-after.ts';

it('a wait is read in seconds, in milliseconds and as a date', () => {
	const nowMs = Date.UTC(2026, 10, 21);
	expect(readRetryAfterMs({ 'retry-after': '2' }, nowMs)).toBe(2000);
	expect(readRetryAfterMs({ 'retry-after': '2', 'retry-after-ms': '150' }, nowMs)).toBe(150);
	expect(readRetryAfterMs({ 'retry-after': 'Sat, 21 Nov 2026 00:00:07 GMT' }, nowMs)).toBe(7000);
	expect([readRetryAfterMs({ 'retry-after': 'soon' }, nowMs), readRetryAfterMs({}, nowMs)]).toEqual([undefined, undefined]);
});
