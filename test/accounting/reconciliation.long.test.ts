import { test } from 'vitest';
import { expectLedgerToAgree } from '../support/accounting-mix.ts';

/** Bounds: an idle machine reaches all requests; a busy one sends fewer. */
const bounds = { withinMs: 500_000, minCalls: 20_000 };

test('20,000 to 100,000 mixed requests over 2 gateways: ledger, sums, counters, computation and bill agree to the nano-dollar', {
	timeout: 1_800_000,
}, () => {
	return expectLedgerToAgree(100_000, bounds);
});
