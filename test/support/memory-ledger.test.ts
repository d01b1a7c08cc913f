import { ledgerContract } from '../../src/stores/contracts/ledger.contract.ts';
import { createMemoryLedger } from './memory-ledger.ts';

ledgerContract('memory', async () => {
	const ledger = createMemoryLedger();
	return { ledger, dispose: () => ledger.end() };
});
