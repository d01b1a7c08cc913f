import type { BudgetPeriod } from '../core/counters.ts';
import { type AdmissionRequest, type BudgetHold, budgetKey, type HeldCall } from './contracts/admission.ts';
import { CallTable, type Chained } from './id-hash-table.ts';

interface Call extends Chained<Call> {
	readonly team: string;
	readonly admittedMs: number;
	endsMs: number;
	readonly reservedTokens: number;
	holds: HeldCall['holds'];
}

/** In-flight requests of this process: their reservations remain known when the store has lost them. */
export class CallsInFlight {
	private readonly calls = new CallTable<Call>();

	/** @param reservedNanoUsd amount of each reservation if it is less than requested. */
	start({ id, team, reservedTokens = 0, holds: asked, holdMs }: AdmissionRequest, nowMs: number, reservedNanoUsd?: bigint): void {
		this.calls.remove(id);
		const holds = reservedNanoUsd === undefined ? asked : withAmount(asked, reservedNanoUsd);
		this.calls.add({ id, team, admittedMs: nowMs, endsMs: nowMs + holdMs, reservedTokens, holds, next: undefined });
	}

	end(id: string): void {
		this.calls.remove(id);
	}

	raise(id: string, raised: readonly BudgetHold[]): void {
		const call = this.calls.get(id);
		if (call === undefined) return;
		const others = call.holds.filter((hold) => !raised.some((one) => isSame(one, hold)));
		call.holds = [...others, ...raised.map((one) => largest(one, call.holds))];
	}

	raiseTo(id: string, holds: readonly BudgetHold[], amountNanoUsd: bigint): void {
		this.raise(id, withAmount(holds, amountNanoUsd));
	}

	renew(id: string, endsMs: number): void {
		const call = this.calls.get(id);
		if (call !== undefined && call.endsMs < endsMs) call.endsMs = endsMs;
	}

	ids(): string[] {
		return [...this.calls].map(({ id }) => id);
	}

	/** Undefined if the request is not in flight here. */
	teamOf(id: string): string | undefined {
		return this.calls.get(id)?.team;
	}

	budgetsOf(team: string): BudgetPeriod[] {
		return [...this.calls].filter((call) => call.team === team).flatMap(({ holds }) => holds);
	}

	heldNanoUsd(team: string, budget: BudgetPeriod): bigint {
		let sum = 0n;
		for (const call of this.calls) {
			if (call.team === team) for (const hold of call.holds) if (isSame(hold, budget)) sum += hold.amountNanoUsd;
		}
		return sum;
	}

	/** Those of `ids` that still reserve something, by team. */
	held(ids: Iterable<string>, nowMs: number): Map<string, HeldCall[]> {
		const byTeam = new Map<string, HeldCall[]>();
		for (const id of ids) {
			const call = this.calls.get(id);
			if (call === undefined) continue;
			if (call.endsMs <= nowMs) {
				this.calls.remove(id);
				continue;
			}
			const calls = byTeam.get(call.team) ?? [];
			const { admittedMs, reservedTokens, holds } = call;
			calls.push({ id, admittedMs, holdMs: call.endsMs - nowMs, reservedTokens, holds });
			byTeam.set(call.team, calls);
		}
		return byTeam;
	}
}

function withAmount(holds: readonly BudgetHold[], amountNanoUsd: bigint): BudgetHold[] {
	return holds.map((hold) => ({ ...hold, amountNanoUsd }));
}

function isSame(one: BudgetPeriod, other: BudgetPeriod): boolean {
	return budgetKey(one) === budgetKey(other);
}

function largest(raised: BudgetHold, holds: HeldCall['holds']): HeldCall['holds'][number] {
	const before = holds.find((hold) => isSame(hold, raised));
	return before !== undefined && before.amountNanoUsd > raised.amountNanoUsd ? before : raised;
}
