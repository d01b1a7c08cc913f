import type { ClosedEntry, Closing, Ledger } from '../../src/stores/contracts/ledger.ts';

/** Resolves when the close is durable; rejects if that cannot be guaranteed now. */
export function closeEntry(ledger: Pick<Ledger, 'close'>, row: ClosedEntry): Promise<Closing> {
	return new Promise((resolve, reject) => {
		ledger.close(row, (outcome) => (outcome instanceof Error ? reject(outcome) : resolve(outcome)));
	});
}
