import { recordsContract } from '../../src/stores/contracts/records.contract.ts';
import { ManualClock } from './manual-clock.ts';
import { createMemoryRecords } from './memory-records.ts';

recordsContract('memory', async () => {
	const clock = new ManualClock();
	const store = createMemoryRecords(clock);
	return { stores: [store, store], passSecond: () => clock.advance(1000), dispose: () => store.close() };
});
