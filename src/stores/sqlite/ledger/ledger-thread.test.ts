import { expect, test } from 'vitest';
import { ThreadLost } from '../../store-thread.ts';
import type { WriterCalls } from './ledger-calls.ts';
import { createLedgerThread } from './ledger-thread.ts';
import type { LedgerThreadData } from './ledger-worker.ts';

test('whoever waits for a thread that dies is told, and the next call starts another', async () => {
	// A thread of no kind dies as it starts.
	const data: LedgerThreadData = { kind: 'neither' as 'writer', dataDir: '', durability: 'process', run: '', spools: false };
	const thread = createLedgerThread<WriterCalls>(data);
	for (let round = 0; round < 2; round++) {
		const outcomes = await Promise.allSettled([thread.call('open', null), thread.call('pruneSome', 0)]);
		expect(outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason instanceof ThreadLost)).toEqual([true, true]);
	}
	await thread.stop();
});
