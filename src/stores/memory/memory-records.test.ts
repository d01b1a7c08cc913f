import { recordsContract } from '../contracts/records.contract.ts';
import { createMemoryRecords } from './memory-records.ts';

recordsContract('memory', async () => {
	const store = createMemoryRecords();
	return { stores: [store, store], passSecond: () => undefined, dispose: () => store.close() };
});
