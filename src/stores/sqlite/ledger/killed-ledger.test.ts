import { expect, test } from 'vitest';
import { checkKilledLedger } from './killed-ledger.contract.ts';

test('whatever was acknowledged survives the death of the process, ten times', async () => {
	const { opened, closed, interrupted } = await checkKilledLedger(10, Math.random);
	expect(opened).toBeGreaterThan(100);
	expect(closed).toBeGreaterThan(100);
	expect(interrupted).toBeGreaterThan(0);
}, 60_000);
