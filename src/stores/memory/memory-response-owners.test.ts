import { ManualClock } from '../../../test/support/manual-clock.ts';
import { responseOwnersContract } from '../contracts/response-owners.contract.ts';
import { createMemoryResponseOwners } from './memory-response-owners.ts';

responseOwnersContract('memory', async () => {
	const clock = new ManualClock();
	const owners = createMemoryResponseOwners({ clock });
	return { owners: [owners, owners], nowMs: () => clock.nowMs(), dispose: async () => undefined };
});
