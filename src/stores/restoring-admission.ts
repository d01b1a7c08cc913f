import type { Clock } from '../core/clock.ts';
import type { BudgetPeriod } from '../core/counters.ts';
import {
	type AdmissionRequest,
	type AdmissionStore,
	type BudgetReservation,
	budgetKey,
	CountersMissing,
	CountersUnreachable,
	type MaybePromise,
	type ReservedRequest,
	type Settlement,
	type TeamTotals,
} from './contracts/admission.ts';
import { CountersLate, OperationDeadlines } from './operation-deadlines.ts';

/**
 * Computes the counters of a team from the ledger: the tokens of the UTC day, and the cost on budgets in the current month. The budgets are
 * those given and every other budget of the team. Also returns the ids of requests that the sums include and that ended since
 * `endedSinceMs`.
 */
export type SumUpTeam = (team: string, budgets: readonly BudgetPeriod[], endedSinceMs: number) => Promise<TeamTotals>;

export interface RestoringPorts {
	readonly clock: Clock;
	readonly sumUp: SumUpTeam;
	/** Lower bound for the end of the team's requests whose settlements may still arrive, unix milliseconds. */
	readonly endedSinceMs: (team: string) => number;
	/** Budgets that every restore of the team includes, in addition to those requested. */
	readonly alsoNeeded?: (team: string) => readonly BudgetPeriod[];
	/** Runs after a team's totals were restored, before the operations that need them continue. */
	readonly afterRestore?: (team: string) => Promise<void>;
}

/** The counters of one team are missing and could not be restored. The store and other teams are not affected. */
export class CountersNotRestored extends CountersUnreachable {}

/**
 * Computes the totals of a team and restores them; concurrent callers share one run.
 * @throws CountersNotRestored; CountersMissing when the store was emptied again meanwhile.
 */
export type RestoreTeam = (team: string, requested: readonly BudgetPeriod[]) => Promise<void>;

/** Times out after ten seconds, later than the ledger does. */
const restorePatience = { tickMs: 500, ticks: 20 };

/** Limits concurrency, so that the restores of many teams do not delay each other beyond the deadline. */
const maxRestoresAtOnce = 8;

export function createTeamRestorer(store: AdmissionStore, ports: RestoringPorts): RestoreTeam {
	const restoring = new Map<string, Promise<void>>();
	const deadlines = new OperationDeadlines(ports.clock, restorePatience);
	const queue: (() => void)[] = [];
	let running = 0;

	async function restore(team: string, requested: readonly BudgetPeriod[]): Promise<void> {
		const budgets = distinct([...requested, ...(ports.alsoNeeded?.(team) ?? [])]);
		const totals = await ports.sumUp(team, budgets, ports.endedSinceMs(team)).catch((cause: unknown) => {
			throw new CountersNotRestored(`The counters of team ${team} cannot be restored from the ledger`, { cause });
		});
		const given = new Set(totals.budgets.map(budgetKey));
		const unspent = budgets.filter((one) => !given.has(budgetKey(one))).map((one) => ({ ...one, settledNanoUsd: 0n }));
		await store.restore({ ...totals, budgets: [...totals.budgets, ...unspent] });
		await ports.afterRestore?.(team);
		// Last, because this process knows the newer state of its own requests.
		const restored = new Set([...given, ...unspent.map(budgetKey)]);
		const reserved = (totals.inFlightRequests ?? []).map((request) => ({
			...request,
			reservations: request.reservations.filter((reservation) => restored.has(budgetKey(reservation))),
		}));
		if (reserved.length > 0) await store.restoreReservations(team, reserved);
	}

	async function restoreInOrder(team: string, requested: readonly BudgetPeriod[]): Promise<void> {
		if (running < maxRestoresAtOnce) running++;
		else await new Promise<void>((resolve) => queue.push(resolve));
		try {
			await deadlines.race(restore(team, requested));
		} catch (cause) {
			throw cause instanceof CountersUnreachable ? notRestored(team, cause) : cause;
		} finally {
			const next = queue.shift();
			if (next === undefined) running--;
			else next();
		}
	}

	return (team, requested) => {
		let one = restoring.get(team);
		if (one === undefined) {
			one = restoreInOrder(team, requested).finally(() => restoring.delete(team));
			restoring.set(team, one);
		}
		return one;
	};
}

function notRestored(team: string, cause: unknown): CountersNotRestored {
	return cause instanceof CountersNotRestored ? cause : new CountersNotRestored(`The counters of team ${team} are not restored`, { cause });
}

/** Budgets of a team may turn out to be missing one after the other while other processes restore it too. */
const maxAttempts = 4;

/** Operations that need a team's totals time out after two seconds; the restore continues. */
const patience = { tickMs: 500, ticks: 4 };

/** Wraps a store so that missing counters are restored on first use: at the start, in a new month, and after the store was emptied. */
export function restoreMissing(
	store: AdmissionStore,
	ports: RestoringPorts,
	restore: RestoreTeam = createTeamRestorer(store, ports),
): AdmissionStore {
	const deadlines = new OperationDeadlines(ports.clock, patience);

	/** @param first result of the operation, if it was started already. */
	async function perform<T>(
		team: string,
		budgets: readonly BudgetPeriod[],
		operation: () => MaybePromise<T>,
		first: MaybePromise<T> = operation(),
	): Promise<T> {
		for (let attempt = 1; ; attempt++) {
			try {
				return await (attempt === 1 ? first : operation());
			} catch (cause) {
				if (!(cause instanceof CountersMissing)) throw cause;
				if (attempt === maxAttempts) {
					throw new CountersNotRestored(`The counters of team ${team} were lost right after they were restored`, { cause });
				}
			}
			try {
				await deadlines.race(restore(team, budgets));
			} catch (cause) {
				// Emptied again in the meantime.
				if (cause instanceof CountersMissing) continue;
				throw cause instanceof CountersLate ? notRestored(team, cause) : cause;
			}
		}
	}

	return {
		admit(request: AdmissionRequest) {
			const response = store.admit(request);
			return response instanceof Promise ? perform(request.team, request.reservations, () => store.admit(request), response) : response;
		},
		settle(settlement: Settlement) {
			const response = store.settle(settlement);
			return response instanceof Promise
				? perform(settlement.team, settlement.budgets, () => store.settle(settlement), response)
				: response;
		},
		release: (id, team) => store.release(id, team),
		extend: (id, team, reservations: readonly BudgetReservation[]) =>
			perform(team, reservations, () => store.extend(id, team, reservations)),
		grow: (id, team, reservations, reservationMs) => perform(team, reservations, () => store.grow(id, team, reservations, reservationMs)),
		read: (team, budgets, limits) => perform(team, budgets, () => store.read(team, budgets, limits)),
		restore: (totals) => store.restore(totals),
		restoreReservations: (team, requests: readonly ReservedRequest[]) => {
			const budgets = requests.flatMap(({ reservations }) => reservations);
			return perform(team, budgets, () => store.restoreReservations(team, requests));
		},
		onReturn: (listener) => store.onReturn(listener),
		close: () => store.close(),
	};
}

function distinct(budgets: readonly BudgetPeriod[]): BudgetPeriod[] {
	return [...new Map(budgets.map(({ budget, period }) => [budgetKey({ budget, period }), { budget, period }])).values()];
}
