import { expect, onTestFinished, test, vi } from 'vitest';
import { ThreadLost } from '../../store-thread.ts';
import { createLedgerThread } from '../sqlite-ledger.ts';
import type { WriterOperations } from './ledger-operations.ts';
import type { LedgerThreadData } from './ledger-worker.ts';

test('a thread that dies reports its cause, rejects its callers, and is started again by the next call', async () => {
	// A thread of an unknown kind dies as it starts.
	const reported = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
	onTestFinished(() => reported.mockRestore());
	const data: LedgerThreadData = { kind: 'neither' as 'writer', dataDir: '', durability: 'process', run: '', spools: false };
	const thread = createLedgerThread<WriterOperations>(data);
	for (let round = 0; round < 2; round++) {
		const outcomes = await Promise.allSettled([thread.request('open', null), thread.request('pruneSome', 0)]);
		expect(outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason instanceof ThreadLost)).toEqual([true, true]);
		const [first] = outcomes;
		expect(first?.status === 'rejected' && String(first.reason)).toMatch(
			/The thread "ledger neither" died: .*Expected one of writer, reader/,
		);
		expect(reported).toHaveBeenCalledTimes(1);
		expect(String(reported.mock.calls[0]?.[0])).toMatch(/^The thread "ledger neither" died: TypeError: .*\n +at .*ledger-worker/s);
		reported.mockClear();
	}
	await thread.stop();
});
