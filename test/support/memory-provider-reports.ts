import type { Clock } from '../../src/core/clock.ts';
import type { ProviderReport } from '../../src/core/health-report.ts';
import type { ProviderReports } from '../../src/stores/contracts/records.ts';

/** @param clock without which no report expires. */
export function createMemoryProviderReports(clock?: Clock): ProviderReports {
	const nowMs = (): number => clock?.nowMs() ?? 0;
	let reports: { readonly process: string; readonly report: ProviderReport; readonly expiresAtMs: number }[] = [];
	const without = (process: string): typeof reports => reports.filter((one) => one.process !== process && one.expiresAtMs > nowMs());
	return {
		async put(process, report, lifeMs) {
			reports = [...without(process), { process, report: structuredClone(report), expiresAtMs: nowMs() + lifeMs }];
		},
		async forget(process) {
			reports = without(process);
		},
		async read() {
			const current = reports.filter(({ expiresAtMs }) => expiresAtMs > nowMs());
			const ordered = current.toSorted((left, right) => (left.process < right.process ? -1 : 1));
			return new Map(ordered.map(({ process, report }) => [process, structuredClone(report)]));
		},
	};
}
