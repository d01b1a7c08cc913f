import type { Clock } from '../core/clock.ts';
import type { BudgetPeriod } from '../core/counters.ts';
import { type AdmissionStore, type BudgetTotal, budgetKey, type ReservedRequest, type TeamTotals } from './contracts/admission.ts';
import type { LastKnown } from './last-known-counters.ts';
import { createMemoryAdmission } from './memory/memory-admission.ts';
import { OperationDeadlines } from './operation-deadlines.ts';
import type { RequestsInFlight } from './requests-in-flight.ts';
import { restoreMissing, type SumUpTeam } from './restoring-admission.ts';

/** The fallback may read the ledger, but only for a short time. */
const patience = { tickMs: 7, ticks: 1 };

/** Readings of the store expire after this time. */
const maxOutageMs = 24 * 3_600_000;

interface FallbackCounterPorts {
	readonly clock: Clock;
	readonly sumUp: SumUpTeam;
	readonly lastKnown: LastKnown;
	readonly requests: RequestsInFlight;
}

/** Counters of this process for each team that bypasses the store. */
export class FallbackCounters {
	readonly #ports: FallbackCounterPorts;
	readonly #byTeam = new Map<string, AdmissionStore>();

	constructor(ports: FallbackCounterPorts) {
		this.#ports = ports;
	}

	get size(): number {
		return this.#byTeam.size;
	}

	has(team: string): boolean {
		return this.#byTeam.has(team);
	}

	/** Creates the counters on first use. */
	of(team: string): AdmissionStore {
		let fallback = this.#byTeam.get(team);
		if (fallback === undefined) {
			fallback = createFallbackCounters(this.#ports);
			this.#byTeam.set(team, fallback);
		}
		return fallback;
	}

	drop(team: string): void {
		this.#byTeam.delete(team);
	}

	keep(isRetained: (team: string) => boolean): void {
		for (const team of this.#byTeam.keys()) if (!isRetained(team)) this.#byTeam.delete(team);
	}
}

/**
 * Creates counters of this process for the time of an outage. They start from the last reading of the store, or by default from the ledger,
 * plus the reservations of this process. They do not see what other processes do meanwhile.
 */
function createFallbackCounters({ clock, sumUp, lastKnown, requests }: FallbackCounterPorts): AdmissionStore {
	const memory = createMemoryAdmission({ clock });
	const deadlines = new OperationDeadlines(clock, patience);

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

	/** Keeps the reservations of other processes from the last reading, because this process does not see their requests end. */
	function reservedByOthers(team: string): ReservedRequest[] {
		const nowMs = clock.nowMs();
		return lastKnown.budgetsOf(team, nowMs).flatMap((known): ReservedRequest[] => {
			const { budget, period } = known;
			const amountNanoUsd = known.reservedNanoUsd - requests.reservedNanoUsd(team, known);
			if (amountNanoUsd <= 0n) return [];
			return [
				{
					id: `others:${budgetKey(known)}`,
					admittedMs: nowMs,
					reservationMs: maxOutageMs,
					reservations: [{ budget, period, amountNanoUsd }],
				},
			];
		});
	}

	return restoreMissing(memory, {
		clock,
		sumUp: begin,
		alsoNeeded: (team) => [...lastKnown.budgetsOf(team, clock.nowMs()), ...requests.budgetsOf(team)],
		endedSinceMs: () => clock.nowMs(),
		async afterRestore(team) {
			await memory.restoreReservations(team, reservedByOthers(team));
			for (const [name, reserved] of requests.reserved(requests.ids(), clock.nowMs())) {
				if (name === team) await memory.restoreReservations(team, reserved);
			}
		},
	});
}

interface UnsyncedTeam {
	readonly sinceMs: number;
	readonly budgets: readonly BudgetPeriod[] | undefined;
}

/** Teams that bypass the store although it is reachable, because it has not received all of their updates yet. */
export class UnsyncedTeams {
	readonly #teams = new Map<string, UnsyncedTeam>();

	get size(): number {
		return this.#teams.size;
	}

	/** In the order in which they were added. */
	get names(): readonly string[] {
		return [...this.#teams.keys()];
	}

	has(team: string): boolean {
		return this.#teams.has(team);
	}

	/**
	 * Adds a team, unless it is present. @param budgets budgets to restore before the team uses the store again; undefined: those of the
	 * pending updates.
	 */
	add(team: string, sinceMs: number, budgets: readonly BudgetPeriod[] | undefined): void {
		if (!this.#teams.has(team)) this.#teams.set(team, { sinceMs, budgets });
	}

	delete(team: string): void {
		this.#teams.delete(team);
	}

	/** Undefined if the team uses the store. */
	get(team: string): UnsyncedTeam | undefined {
		return this.#teams.get(team);
	}
}
