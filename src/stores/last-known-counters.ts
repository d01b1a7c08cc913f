import type { BudgetPeriod, BudgetReading, CounterReading } from '../core/counters.ts';
import { budgetKey } from './contracts/admission.ts';
import { TtlMap } from './memory/ttl-map.ts';

interface KnownTeam {
	tokensToday: number;
	generation: string | undefined;
	readonly budgets: Map<string, BudgetReading>;
}

const forgottenAfterMs = 24 * 3_600_000;

/** Last readings of each team's counters, for use during an outage. */
export class LastKnown {
	private readonly teams = new TtlMap<string, KnownTeam>(forgottenAfterMs);

	/** @returns true if the counters were rebuilt since the last reading. */
	note(team: string, { nowMs, tokensToday, budgets, generation }: CounterReading): boolean {
		const known = this.noteBudgets(team, budgets, nowMs);
		const isAnother = known.generation !== undefined && known.generation !== generation;
		known.tokensToday = tokensToday;
		known.generation = generation;
		return isAnother;
	}

	noteBudgets(team: string, budgets: readonly BudgetReading[], nowMs: number): KnownTeam {
		let known = this.teams.get(team, nowMs);
		if (known === undefined) {
			known = { tokensToday: 0, generation: undefined, budgets: new Map() };
			this.teams.set(team, known, nowMs);
		}
		for (const reading of budgets) {
			const key = budgetKey(reading);
			// Clears all, because only the latest period is relevant and its readings soon return.
			if (known.budgets.size > 1000 && !known.budgets.has(key)) known.budgets.clear();
			known.budgets.set(key, reading);
		}
		return known;
	}

	tokensToday(team: string, nowMs: number): number {
		return this.teams.get(team, nowMs)?.tokensToday ?? 0;
	}

	budgetsOf(team: string, nowMs: number): BudgetReading[] {
		return [...(this.teams.get(team, nowMs)?.budgets.values() ?? [])];
	}

	budget(team: string, budget: BudgetPeriod, nowMs: number): BudgetReading | undefined {
		return this.teams.get(team, nowMs)?.budgets.get(budgetKey(budget));
	}
}
