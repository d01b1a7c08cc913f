import type { BudgetPeriod } from '../core/counters.ts';

interface AwayTeam {
	readonly sinceMs: number;
	readonly budgets: readonly BudgetPeriod[] | undefined;
}

/** Teams that are judged without the store although it can be reached: it has not been told yet what it missed of them. */
export class AwayTeams {
	readonly #teams = new Map<string, AwayTeam>();

	get size(): number {
		return this.#teams.size;
	}

	/** In the order in which they went away. */
	get names(): readonly string[] {
		return [...this.#teams.keys()];
	}

	has(team: string): boolean {
		return this.#teams.has(team);
	}

	/** Leaves a team that is away already as it is. @param budgets to be restored before the team is judged again; undefined: those of what is told. */
	add(team: string, sinceMs: number, budgets: readonly BudgetPeriod[] | undefined): void {
		if (!this.#teams.has(team)) this.#teams.set(team, { sinceMs, budgets });
	}

	delete(team: string): void {
		this.#teams.delete(team);
	}

	/** Undefined: the team is not away. */
	get(team: string): AwayTeam | undefined {
		return this.#teams.get(team);
	}
}
