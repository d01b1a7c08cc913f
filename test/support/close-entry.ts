import type { ClosedRow, Closing, Ledger } from '../../src/stores/contracts/ledger.ts';

/** Resolves when the close is durable; rejects if that cannot be guaranteed now. */
export function closeRow(ledger: Pick<Ledger, 'close'>, row: ClosedRow): Promise<Closing> {
	return new Promise((resolve, reject) => {
		ledger.close(row, (outcome) => (outcome instanceof Error ? reject(outcome) : resolve(outcome)));
	});
}
