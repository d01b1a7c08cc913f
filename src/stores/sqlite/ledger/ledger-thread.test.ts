import { expect, onTestFinished, test, vi } from 'vitest';
import { ThreadLost } from '../../store-thread.ts';
import type { WriterCalls } from './ledger-calls.ts';
import { createLedgerThread } from './ledger-thread.ts';
import type { LedgerThreadData } from './ledger-worker.ts';

test('a thread that dies reports its cause, rejects its callers, and is started again by the next call', async () => {
	// A thread of no kind dies as it starts.
	const reported = vi.spyOn(console, 'error').mockImplementation(() => undefined);
	onTestFinished(() => reported.mockRestore());
	const data: LedgerThreadData = { kind: 'neither' as 'writer', dataDir: '', durability: 'process', run: '', spools: false };
	const thread = createLedgerThread<WriterCalls>(data);
	for (let round = 0; round < 2; round++) {
		const outcomes = await Promise.allSettled([thread.call('open', null), thread.call('pruneSome', 0)]);
		expect(outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason instanceof ThreadLost)).toEqual([true, true]);
		expect(outcomes).toMatchObject([
			{ reason: { message: expect.stringMatching(/^The thread "ledger neither" died: .*not a function/) } },
			{},
		]);
		expect(reported.mock.calls).toEqual([
			[expect.stringMatching(/^The thread "ledger neither" died: TypeError: .*\n +at .*ledger-worker/s)],
		]);
		reported.mockClear();
	}
	await thread.stop();
});
