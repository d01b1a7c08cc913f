import { requestRecordsContract } from '../../src/stores/contracts/request-records.contract.ts';
import { createMemoryRequestRecords } from './memory-request-records.ts';

requestRecordsContract('memory', async () => {
	const records = createMemoryRequestRecords();
	return { records, reader: records, dispose: async () => undefined };
});
