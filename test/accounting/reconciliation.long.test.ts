import { test } from 'vitest';
import { expectBooksToAgree } from '../support/accounting-mix.ts';

/** Enough for all of them on an idle machine. */
const callingMs = 500_000;

test('up to 100,000 mixed calls over 2 gateways: ledger, sums, counters, reckoning and bill agree to the nano-dollar', {
	timeout: 900_000,
}, () => {
	return expectBooksToAgree(100_000, callingMs);
});
