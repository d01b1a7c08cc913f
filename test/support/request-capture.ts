import type { BudgetPeriod } from '../../src/core/counters.ts';
import type { ReservedRequest, Settlement, TeamTotals } from '../../src/stores/contracts/admission.ts';

/** Completed requests of a ledger, as a source to restore counters from. */
export class RequestLog {
	/** Number of reads. */
	requested = 0;
	/** In-flight requests of the team `red`. */
	readonly open: ReservedRequest[] = [];
	readonly #rows: (Settlement & { endedMs: number })[] = [];

	/** Records the end before the store is notified. */
	close(settlement: Settlement, endedMs = Date.now()): void {
		this.#rows.push({ ...settlement, endedMs });
	}

	spentNanoUsd(team: string, { budget, period }: BudgetPeriod): bigint {
		return this.#rows
			.filter((row) => row.team === team && row.budgets.some((one) => one.budget === budget && one.period === period))
			.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0n);
	}

	readonly sumUp = async (team: string, budgets: readonly BudgetPeriod[], endedSinceMs: number): Promise<TeamTotals> => {
		this.requested++;
		const rows = this.#rows.filter((row) => row.team === team);
		return {
			team,
			tokensToday: rows.reduce((sum, { tokens }) => sum + tokens, 0),
			budgets: budgets.map((budget) => ({ ...budget, settledNanoUsd: this.spentNanoUsd(team, budget) })),
			inFlightRequests: team === 'red' ? this.open : [],
			endedIds: rows.filter(({ endedMs }) => endedMs >= endedSinceMs).map(({ id }) => id),
		};
	};
}
