import { formatUsd } from '../../../core/money.ts';
import type { RecordedRequest } from '../../../stores/contracts/request-records.ts';
import { type Decision, recordedDecision } from './replay-decision.ts';

/** Differences between the recorded decisions and those of another policy. Members have their names in the admin API. */
export interface ReplayCounts {
	readonly requests: number;
	/** Rejected by both, or served by both with the same target and output limit. */
	readonly same: number;
	/** Served, and rejected by the other policy. */
	readonly rejected: number;
	/** Rejected, and served by the other policy. */
	readonly admitted: number;
	/** Served by another target. */
	readonly rerouted: number;
	/** Output limited by the other policy only. */
	readonly capped: number;
	readonly cost_usd_before: string;
	readonly cost_usd_after: string;
}

export interface ReplayResult extends ReplayCounts {
	/** Of `rejected`, by code. */
	readonly rejected_by_code: Readonly<Record<string, number>>;
	/** By team id, in this order. */
	readonly teams: readonly TeamReplay[];
	/** The first changed requests. */
	readonly examples: readonly ReplayExample[];
}

export interface TeamReplay extends ReplayCounts {
	readonly team: string;
	readonly rejected_by_code: Readonly<Record<string, number>>;
}

export interface ReplayExample {
	readonly id: string;
	readonly team: string;
	readonly change: Change;
	/** Code of the rejection before or after. */
	readonly code: string | null;
	/** Targets as `provider/model`. */
	readonly target_before: string | null;
	readonly target_after: string | null;
}

type Change = 'rejected' | 'admitted' | 'rerouted' | 'capped';

const maxExamples = 100;

/** Teams beyond this number are one, because clients of foreign issuers can be teams. */
const maxTeams = 10_000;
const otherTeams = 'other';

class Sums {
	requests = 0;
	same = 0;
	readonly changes: Record<Change, number> = { rejected: 0, admitted: 0, rerouted: 0, capped: 0 };
	beforeNanoUsd = 0n;
	afterNanoUsd = 0n;
	readonly codes = new Map<string, number>();

	add(before: Decision, after: Decision, changes: readonly Change[]): void {
		this.requests++;
		if (changes.length === 0) this.same++;
		for (const change of changes) this.changes[change]++;
		if (before.isServed) this.beforeNanoUsd += before.costNanoUsd;
		if (after.isServed) this.afterNanoUsd += after.costNanoUsd;
		else if (before.isServed) this.codes.set(after.code, (this.codes.get(after.code) ?? 0) + 1);
	}

	get counts(): ReplayCounts & Pick<TeamReplay, 'rejected_by_code'> {
		const { requests, same, changes, beforeNanoUsd, afterNanoUsd, codes } = this;
		return {
			requests,
			same,
			...changes,
			rejected_by_code: Object.fromEntries([...codes].toSorted(([one], [other]) => (one < other ? -1 : 1))),
			cost_usd_before: formatUsd(beforeNanoUsd),
			cost_usd_after: formatUsd(afterNanoUsd),
		};
	}
}

export class ReplayReport {
	readonly #all = new Sums();
	readonly #teams = new Map<string, Sums>();
	readonly #examples: ReplayExample[] = [];

	get requests(): number {
		return this.#all.requests;
	}

	add(request: RecordedRequest, after: Decision): void {
		const before = recordedDecision(request);
		const changes = changesOf(before, after);
		const team = request.team ?? request.clientId;
		this.#all.add(before, after, changes);
		this.#sumsOf(team).add(before, after, changes);
		const [change] = changes;
		if (change === undefined || this.#examples.length >= maxExamples) return;
		const code = after.isServed ? (before.isServed ? null : before.code) : after.code;
		this.#examples.push({ id: request.id, team, change, code, target_before: targetOf(before), target_after: targetOf(after) });
	}

	get result(): ReplayResult {
		const teams = [...this.#teams].toSorted(([one], [other]) => (one < other ? -1 : 1));
		return {
			...this.#all.counts,
			teams: teams.map(([team, sums]) => ({ team, ...sums.counts })),
			examples: this.#examples,
		};
	}

	#sumsOf(team: string): Sums {
		const known = this.#teams.get(team);
		if (known !== undefined) return known;
		const name = this.#teams.size >= maxTeams ? otherTeams : team;
		const sums = this.#teams.get(name) ?? new Sums();
		this.#teams.set(name, sums);
		return sums;
	}
}

const none: readonly Change[] = [];

function changesOf(before: Decision, after: Decision): readonly Change[] {
	if (!before.isServed) return after.isServed ? ['admitted'] : none;
	if (!after.isServed) return ['rejected'];
	const isRerouted = before.provider !== after.provider || before.model !== after.model;
	const isCapped = after.isOutputCapped && !before.isOutputCapped;
	if (!isRerouted) return isCapped ? ['capped'] : none;
	return isCapped ? ['rerouted', 'capped'] : ['rerouted'];
}

function targetOf(decision: Decision): string | null {
	return decision.isServed && decision.provider !== null ? `${decision.provider}/${decision.model ?? ''}` : null;
}
