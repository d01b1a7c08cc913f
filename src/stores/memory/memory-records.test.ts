import { ManualClock } from '../../../test/support/manual-clock.ts';
import { recordsContract } from '../contracts/records.contract.ts';
import { createMemoryRecords } from './memory-records.ts';

recordsContract('memory', async () => {
	const clock = new ManualClock();
	const store = createMemoryRecords(clock);
	return { stores: [store, store], passSecond: () => clock.advance(1000), dispose: () => store.close() };
});
