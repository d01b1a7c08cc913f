import { expect, test } from 'vitest';
import { checkKilledLedger } from './killed-ledger.contract.ts';

test('whatever was acknowledged survives the death of the process, two hundred times', async () => {
	const { interrupted } = await checkKilledLedger(200, Math.random);
	expect(interrupted).toBeGreaterThan(200);
});
