import { test } from 'vitest';
import { expectLedgerToAgree } from '../support/accounting-mix.ts';

test('600 mixed requests over 2 gateways: ledger, sums, counters, computation and bill agree to the nano-dollar', {
	timeout: 90_000,
}, () => {
	return expectLedgerToAgree(600);
});
