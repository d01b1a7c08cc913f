/** Budget for fifty requests and five hundred concurrent ones: the provider's bill never exceeds it. */
import { test } from 'vitest';
import { expectBoundedOvershoot, expectNoOverspending } from '../support/accounting-storm.ts';

test('worst case: the bill never exceeds the budget, and no reservation remains; 3 rounds', { timeout: 120_000 }, () =>
	expectNoOverspending(3),
);

test('estimate: the bill exceeds the budget by no more than the in-flight requests', { timeout: 60_000 }, () => expectBoundedOvershoot());
