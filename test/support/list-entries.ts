import type { LedgerEntry, LedgerReader } from '../../src/stores/contracts/ledger.ts';

/** Reads all pages. @param team undefined lists the entries of every team. */
export async function listEntries(ledger: Pick<LedgerReader, 'list'>, team?: string): Promise<LedgerEntry[]> {
	const rows: LedgerEntry[] = [];
	for (let cursor: string | null | undefined; cursor !== null; ) {
		const page = await ledger.list({ limit: 1000, ...(team !== undefined && { team }), ...(cursor !== undefined && { cursor }) });
		rows.push(...page.rows);
		cursor = page.nextCursor;
	}
	return rows;
}
