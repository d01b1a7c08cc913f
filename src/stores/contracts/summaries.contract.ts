/** Sums by chosen names, and their pages: a part of the contract of every ledger. */
import { expect, test } from 'vitest';
import type { Ledger, OpenEntry, SummaryName, SummaryQuery, UsageSummary } from './ledger.ts';

/** @param openAndClose opens and closes an entry that costs 1,234 nano-dollars. */
export function summariesContract(ledger: () => Ledger, openAndClose: (id: string, row: Partial<OpenEntry>) => Promise<void>): void {
	test('sums by any of the names, over all the time, page by page', async () => {
		for (const [index, row] of [{ team: 'b' }, { team: 'B' }, { team: 'é' }, { clientId: 'c2' }, { model: 'm2' }, {}].entries()) {
			const startedMs = Date.UTC(2026, index % 2 === 0 ? 10 : 11, 20, index);
			await openAndClose(`r${index}`, { team: 'a', clientId: 'c', provider: 'p', model: 'm', ...row, startedMs });
		}
		const span = { fromMs: Date.UTC(2026, 10, 3, 7), toMs: Date.UTC(2026, 11, 20, 6) };
		const sumsBy = async (...by: readonly SummaryName[]): Promise<string[]> =>
			(await ledger().summarize({ ...span, period: 'all', by })).map(
				({ costNanoUsd, estimatedCostNanoUsd: _estimated, requests, usage: _usage, ...key }) => {
					expect(costNanoUsd).toBe(BigInt(requests) * 1234n);
					return `${Object.values(key).join('/')} ${requests}`;
				},
			);
		expect(await sumsBy('team')).toEqual(['/B///// 1', '/a///// 3', '/b///// 1', '/é///// 1']);
		expect(await sumsBy('clientId')).toEqual(['//c//// 5', '//c2//// 1']);
		expect(await sumsBy('model', 'provider')).toEqual(['///p/m// 5', '///p/m2// 1']);
		expect(await sumsBy()).toEqual(['////// 6']);
		expect(await ledger().summarize({ ...span, fromMs: span.toMs, period: 'all', by: [] })).toEqual([]);
		for (const query of [
			{ ...span, period: 'all', by: ['team'] },
			{ ...span, period: 'day', by: [] },
			{ ...span, period: 'month' },
			{ ...span, period: 'month', team: 'a', by: ['clientId', 'model'] },
		] as const satisfies SummaryQuery[]) {
			const all = await ledger().summarize(query);
			const pages: UsageSummary[] = [];
			for (;;) {
				const after = pages.at(-1);
				const page = await ledger().summarize({ ...query, limit: 1, ...(after && { after }) });
				if (page.length === 0) break;
				expect(page).toHaveLength(1);
				pages.push(...page);
			}
			expect(pages).toEqual(all);
		}
	});
}
