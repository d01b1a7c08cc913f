import type { Clock } from '../core/clock.ts';
import type { BudgetPeriod } from '../core/counters.ts';
import { CallDeadlines, CountersLate } from './call-deadlines.ts';
import {
	type AdmissionRequest,
	type AdmissionStore,
	type AtHand,
	type BudgetHold,
	budgetKey,
	CountersMissing,
	CountersUnreachable,
	type HeldCall,
	type Settlement,
	type TeamTotals,
} from './contracts/admission.ts';

/**
 * Adds up what the counters of a team should say, from the record of its calls: the tokens of the UTC day, and what was
 * spent of these budgets and of every other budget of the team in the current month; with the ids of the calls that the
 * sums contain and that ended since `endedSinceMs`.
 */
export type SumUpTeam = (team: string, budgets: readonly BudgetPeriod[], endedSinceMs: number) => Promise<TeamTotals>;

export interface RestoringPorts {
	readonly clock: Clock;
	readonly sumUp: SumUpTeam;
	/** Settlements of the team's calls that ended since then may still come, unix milliseconds. */
	readonly endedSinceMs: (team: string) => number;
	/** Budgets that are needed whenever the team is restored, beside those asked for. */
	readonly alsoNeeded?: (team: string) => readonly BudgetPeriod[];
	/** Runs after a team's totals were restored, before whoever needed them goes on. */
	readonly afterRestore?: (team: string) => Promise<void>;
}

/** The counters of one team are missing and could not be restored. It says nothing of the store, nor of other teams. */
export class CountersNotRestored extends CountersUnreachable {}

/**
 * Sums a team up and gives the store the totals; once for all who wait for it.
 * @throws CountersNotRestored; CountersMissing when the store was emptied again meanwhile.
 */
export type RestoreTeam = (team: string, asked: readonly BudgetPeriod[]) => Promise<void>;

/** Gives up after ten seconds: by then the ledger has. */
const restorePatience = { tickMs: 500, ticks: 20 };

/** So that those of many teams do not keep each other from being in time. */
const maxRestoresAtOnce = 8;

export function createTeamRestorer(store: AdmissionStore, ports: RestoringPorts): RestoreTeam {
	const restoring = new Map<string, Promise<void>>();
	const deadlines = new CallDeadlines(ports.clock, restorePatience);
	const queue: (() => void)[] = [];
	let running = 0;

	async function restore(team: string, asked: readonly BudgetPeriod[]): Promise<void> {
		const budgets = distinct([...asked, ...(ports.alsoNeeded?.(team) ?? [])]);
		const totals = await ports.sumUp(team, budgets, ports.endedSinceMs(team)).catch((cause: unknown) => {
			throw new CountersNotRestored(`The counters of team ${team} cannot be restored from the ledger`, { cause });
		});
		const given = new Set(totals.budgets.map(budgetKey));
		const unspent = budgets.filter((one) => !given.has(budgetKey(one))).map((one) => ({ ...one, settledNanoUsd: 0n }));
		await store.restore({ ...totals, budgets: [...totals.budgets, ...unspent] });
		await ports.afterRestore?.(team);
		// Last, for what this process knows of its own calls is newer.
		const restored = new Set([...given, ...unspent.map(budgetKey)]);
		const held = (totals.openCalls ?? []).map((call) => ({ ...call, holds: call.holds.filter((hold) => restored.has(budgetKey(hold))) }));
		if (held.length > 0) await store.rehold(team, held);
	}

	async function restoreInTurn(team: string, asked: readonly BudgetPeriod[]): Promise<void> {
		if (running < maxRestoresAtOnce) running++;
		else await new Promise<void>((resolve) => queue.push(resolve));
		try {
			await deadlines.race(restore(team, asked));
		} catch (cause) {
			throw cause instanceof CountersUnreachable ? notRestored(team, cause) : cause;
		} finally {
			const next = queue.shift();
			if (next === undefined) running--;
			else next();
		}
	}

	return (team, asked) => {
		let one = restoring.get(team);
		if (one === undefined) {
			one = restoreInTurn(team, asked).finally(() => restoring.delete(team));
			restoring.set(team, one);
		}
		return one;
	};
}

function notRestored(team: string, cause: unknown): CountersNotRestored {
	return cause instanceof CountersNotRestored ? cause : new CountersNotRestored(`The counters of team ${team} are not restored`, { cause });
}

/** Different budgets of a team may be missing one after the other while others restore it too. */
const maxAttempts = 4;

/** Who waits for a team's totals gives up after two seconds; they are restored all the same. */
const patience = { tickMs: 500, ticks: 4 };

/** A store that is given what it does not know when it is needed: at the start, in a new month, and when it was emptied. */
export function restoreMissing(
	store: AdmissionStore,
	ports: RestoringPorts,
	restore: RestoreTeam = createTeamRestorer(store, ports),
): AdmissionStore {
	const deadlines = new CallDeadlines(ports.clock, patience);

	/** @param first answer of the operation, where it was asked already. */
	async function perform<T>(
		team: string,
		budgets: readonly BudgetPeriod[],
		operation: () => AtHand<T>,
		first: AtHand<T> = operation(),
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
			const answer = store.admit(request);
			return answer instanceof Promise ? perform(request.team, request.holds, () => store.admit(request), answer) : answer;
		},
		settle(settlement: Settlement) {
			const answer = store.settle(settlement);
			return answer instanceof Promise ? perform(settlement.team, settlement.budgets, () => store.settle(settlement), answer) : answer;
		},
		release: (id, team) => store.release(id, team),
		extend: (id, team, holds: readonly BudgetHold[]) => perform(team, holds, () => store.extend(id, team, holds)),
		grow: (id, team, holds, holdMs) => perform(team, holds, () => store.grow(id, team, holds, holdMs)),
		read: (team, budgets) => perform(team, budgets, () => store.read(team, budgets)),
		restore: (totals) => store.restore(totals),
		rehold: (team, calls: readonly HeldCall[]) => {
			const budgets = calls.flatMap(({ holds }) => holds);
			return perform(team, budgets, () => store.rehold(team, calls));
		},
		onReturn: (listener) => store.onReturn(listener),
		close: () => store.close(),
	};
}

function distinct(budgets: readonly BudgetPeriod[]): BudgetPeriod[] {
	return [...new Map(budgets.map(({ budget, period }) => [budgetKey({ budget, period }), { budget, period }])).values()];
}
