import { test } from 'vitest';
import { expectBooksToAgree } from '../support/accounting-mix.ts';

test('20,000 mixed calls over 2 gateways: ledger, sums, counters, reckoning and bill agree to the nano-dollar', () => {
	return expectBooksToAgree(20_000);
});
