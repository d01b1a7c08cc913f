import type { BudgetPeriod, BudgetReading, CounterReading } from '../core/counters.ts';
import { budgetKey } from './contracts/admission.ts';
import { FadingMap } from './memory/fading-map.ts';

interface KnownTeam {
	tokensToday: number;
	readonly budgets: Map<string, BudgetReading>;
}

const forgottenAfterMs = 24 * 3_600_000;

/** What the store last said of each team, for the time when it says nothing. */
export class LastKnown {
	private readonly teams = new FadingMap<string, KnownTeam>(forgottenAfterMs);

	note(team: string, { nowMs, tokensToday, budgets }: CounterReading): void {
		this.noteBudgets(team, budgets, nowMs).tokensToday = tokensToday;
	}

	noteBudgets(team: string, budgets: readonly BudgetReading[], nowMs: number): KnownTeam {
		let known = this.teams.get(team, nowMs);
		if (known === undefined) {
			known = { tokensToday: 0, budgets: new Map() };
			this.teams.set(team, known, nowMs);
		}
		for (const reading of budgets) {
			const key = budgetKey(reading);
			// The latest period alone matters soon; whatever was said of earlier ones goes with it.
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
