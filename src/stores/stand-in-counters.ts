import type { Clock } from '../core/clock.ts';
import type { BudgetPeriod } from '../core/counters.ts';
import { CallDeadlines } from './call-deadlines.ts';
import type { CallsInFlight } from './calls-in-flight.ts';
import { type AdmissionStore, type BudgetTotal, budgetKey, type HeldCall, type TeamTotals } from './contracts/admission.ts';
import type { LastKnown } from './last-known.ts';
import { createMemoryAdmission } from './memory/memory-admission.ts';
import { restoreMissing, type SumUpTeam } from './restoring-admission.ts';

/** A stand-in may ask the record of calls, but nobody waits long for it. */
const patience = { tickMs: 7, ticks: 1 };

/** What was known of the store is forgotten by then. */
const longestAwayMs = 24 * 3_600_000;

interface StandInPorts {
	readonly clock: Clock;
	readonly sumUp: SumUpTeam;
	readonly lastKnown: LastKnown;
	readonly calls: CallsInFlight;
}

/** Of each team that is judged without the store, its counters of this process. */
export class StandIns {
	readonly #ports: StandInPorts;
	readonly #byTeam = new Map<string, AdmissionStore>();

	constructor(ports: StandInPorts) {
		this.#ports = ports;
	}

	get size(): number {
		return this.#byTeam.size;
	}

	has(team: string): boolean {
		return this.#byTeam.has(team);
	}

	/** Begun where there are none yet. */
	of(team: string): AdmissionStore {
		let standIn = this.#byTeam.get(team);
		if (standIn === undefined) {
			standIn = createStandIn(this.#ports);
			this.#byTeam.set(team, standIn);
		}
		return standIn;
	}

	drop(team: string): void {
		this.#byTeam.delete(team);
	}

	keep(isKept: (team: string) => boolean): void {
		for (const team of this.#byTeam.keys()) if (!isKept(team)) this.#byTeam.delete(team);
	}
}

/**
 * Counters of this process alone, for the time of an outage. They begin with what the store last said, or else with what the record of
 * calls says, and with what this process holds; what others do in the meantime they do not see.
 */
function createStandIn({ clock, sumUp, lastKnown, calls }: StandInPorts): AdmissionStore {
	const memory = createMemoryAdmission({ clock });
	const deadlines = new CallDeadlines(clock, patience);

	async function begin(team: string, budgets: readonly BudgetPeriod[], endedSinceMs: number): Promise<TeamTotals> {
		const nowMs = clock.nowMs();
		const unknown = budgets.filter((budget) => lastKnown.budget(team, budget, nowMs) === undefined);
		const summed = unknown.length === 0 ? undefined : await deadlines.race(sumUp(team, unknown, endedSinceMs)).catch(() => undefined);
		const known = budgets.flatMap((budget): BudgetTotal[] => {
			const reading = lastKnown.budget(team, budget, nowMs);
			return reading === undefined ? [] : [{ ...budget, settledNanoUsd: reading.settledNanoUsd }];
		});
		return { team, tokensToday: lastKnown.tokensToday(team, nowMs), budgets: [...known, ...(summed?.budgets ?? [])], endedIds: [] };
	}

	/** What others held when the store was last heard of stays held: how their calls end is not seen here. */
	function heldByOthers(team: string): HeldCall[] {
		const nowMs = clock.nowMs();
		return lastKnown.budgetsOf(team, nowMs).flatMap((known): HeldCall[] => {
			const { budget, period } = known;
			const amountNanoUsd = known.heldNanoUsd - calls.heldNanoUsd(team, known);
			if (amountNanoUsd <= 0n) return [];
			return [{ id: `others:${budgetKey(known)}`, admittedMs: nowMs, holdMs: longestAwayMs, holds: [{ budget, period, amountNanoUsd }] }];
		});
	}

	return restoreMissing(memory, {
		clock,
		sumUp: begin,
		alsoNeeded: (team) => [...lastKnown.budgetsOf(team, clock.nowMs()), ...calls.budgetsOf(team)],
		endedSinceMs: () => clock.nowMs(),
		async afterRestore(team) {
			await memory.rehold(team, heldByOthers(team));
			for (const [name, held] of calls.held(calls.ids(), clock.nowMs())) if (name === team) await memory.rehold(team, held);
		},
	});
}

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
