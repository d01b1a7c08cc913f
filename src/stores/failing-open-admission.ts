/**
 * The one place where a failing counter store is dealt with (Spec: Errors, rule 5). Every operation is answered, soon: by the store, or by
 * a stand-in while the store is away. What the store missed it is told afterwards; every operation is keyed by the call's
 * id, so nothing is harmed by being told twice.
 */
import type { Clock, Timer } from '../core/clock.ts';
import type { Admission, BudgetPeriod, CounterReading } from '../core/counters.ts';
import type { Log } from '../core/log.ts';
import { CallDeadlines, CountersLate } from './call-deadlines.ts';
import { CallsInFlight } from './calls-in-flight.ts';
import {
	type AdmissionRequest,
	type AdmissionStore,
	type AtHand,
	type BudgetHold,
	CountersUnreachable,
	type HeldCall,
	type Settled,
	type Settlement,
	type TeamTotals,
} from './contracts/admission.ts';
import { LastKnown } from './last-known.ts';
import { RecentEnds } from './recent-ends.ts';
import { type RestoringPorts, restoreMissing, type SumUpTeam } from './restoring-admission.ts';
import { createStandIn } from './stand-in-counters.ts';
import { Undelivered } from './undelivered.ts';

export interface FailingOpenSettings {
	/**
	 * Calls that hold on a budget while the store is away: `local` judges them by what this process knows, `allow` admits them, `deny`
	 * refuses them. Rate limits always pass.
	 */
	readonly budgetsOnFailure: 'local' | 'allow' | 'deny';
}

export interface FailingOpenPorts {
	readonly clock: Clock;
	readonly log: Log;
	readonly sumUp: SumUpTeam;
}

export interface FailingOpenAdmission extends AdmissionStore {
	admit(request: AdmissionRequest): Promise<Admission>;
	settle(settlement: Settlement): Promise<Settled>;
	state(): CounterStoreState;
}

export interface CounterStoreState {
	readonly isReachable: boolean;
	/** Since the start: calls admitted without the store. */
	readonly uncounted: number;
	/** Since the start: calls refused without the store. */
	readonly declined: number;
	/** Since the start: operations that failed or took too long. */
	readonly failures: number;
	/** Since the start: times that the store was given up. */
	readonly outages: number;
	/** What the store is still to be told. */
	readonly undelivered: number;
	/** Since the start: ends of calls that there were too many of to keep; the ledger has them. */
	readonly lost: number;
}

/** Gives up on an answer after 42 to 49 ms. */
const patience = { tickMs: 7, ticks: 6 };

/** Nobody waits while the store is told what it missed. */
const catchUpPatience = { tickMs: 100, ticks: 5 };

/** Answers that are late within so long are one failure. */
const oneDelayMs = 20;

/** Failures in a row after which the store is no longer waited for. */
const failuresToOpen = 5;

/** Between attempts to reach the store again. */
const probeMs = 750;

/** The longest time for telling the store what it missed before it is asked again; the rest follows. */
const catchUpMs = 500;

/** Settlements are told again, or for the first time, for less than this after their call has ended. */
const settlementMs = 180_000;

/** No team has such a name. */
const probeTeam = ':probe';

const noLimitNanoUsd = 10n ** 20n;

export function failOpen(store: AdmissionStore, settings: FailingOpenSettings, ports: FailingOpenPorts): FailingOpenAdmission {
	return new FailingOpen(store, settings, ports);
}

class FailingOpen implements FailingOpenAdmission {
	/** Answers in time, or not at all. */
	private readonly store: AdmissionStore;
	/** The same for those who can wait. */
	private readonly patientStore: AdmissionStore;
	readonly isConnected: () => boolean;
	private readonly settings: FailingOpenSettings;
	private readonly ports: FailingOpenPorts;
	private readonly deadlines: CallDeadlines;
	private readonly catchUpDeadlines: CallDeadlines;
	private readonly calls = new CallsInFlight();
	private readonly undelivered = new Undelivered(this.calls);
	private readonly recent = new RecentEnds();
	private readonly lastKnown = new LastKnown();
	private standIn: AdmissionStore | undefined;
	private timer: Timer | undefined;
	private catchingUp: Promise<void> | undefined;
	private isClosed = false;
	private failuresInARow = 0;
	private lateMs = Number.NEGATIVE_INFINITY;
	private awaySinceMs: number | undefined;
	private readonly counts = { uncounted: 0, declined: 0, failures: 0, outages: 0 };

	constructor(store: AdmissionStore, settings: FailingOpenSettings, ports: FailingOpenPorts) {
		this.isConnected = () => store.isConnected?.() ?? true;
		this.settings = settings;
		this.ports = ports;
		this.deadlines = new CallDeadlines(ports.clock, patience);
		this.catchUpDeadlines = new CallDeadlines(ports.clock, catchUpPatience);
		const restoring: RestoringPorts = {
			clock: ports.clock,
			sumUp: ports.sumUp,
			alsoNeeded: (team) => this.calls.budgetsOf(team),
			endedSinceMs: () => (this.awaySinceMs ?? ports.clock.nowMs()) - settlementMs,
			afterRestore: async (team) => {
				for (const [name, held] of this.heldCalls()) if (name === team) await this.catchUpDeadlines.race(store.rehold(team, held));
			},
		};
		// The time that the ledger takes to be summed up is not the store's.
		this.store = restoreMissing(inTime(store, this.deadlines), restoring);
		this.patientStore = restoreMissing(store, restoring);
		store.onReturn(() => {
			for (const id of this.calls.ids()) this.undelivered.hold(id);
			// It may be empty, and summed up from a ledger that does not have the latest ends yet. What it knows changes nothing.
			for (const [id, end] of this.recent.latest(ports.clock.monotonicMs())) this.undelivered.tell(id, end);
			void this.catchUp();
		});
	}

	async admit(request: AdmissionRequest): Promise<Admission> {
		if (this.awaySinceMs === undefined) {
			try {
				const admission = await this.ask(this.store.admit(request));
				this.lastKnown.note(request.team, admission.reading);
				if (admission.isAdmitted) this.calls.start(request, this.ports.clock.nowMs());
				return admission;
			} catch (cause) {
				this.fail(cause);
			}
			const admission = await this.admitWithoutStore(request);
			// The store may have admitted it all the same.
			if (!admission.isAdmitted) this.undelivered.release(request.id, request.team);
			return admission;
		}
		return this.admitWithoutStore(request);
	}

	async settle(settlement: Settlement): Promise<Settled> {
		this.calls.end(settlement.id);
		this.recent.note(settlement.id, { settlement }, this.ports.clock.monotonicMs());
		if (this.awaySinceMs === undefined) {
			try {
				const settled = await this.ask(this.store.settle(settlement));
				this.lastKnown.noteBudgets(settlement.team, settled.budgets, this.ports.clock.nowMs());
				return settled;
			} catch (cause) {
				this.fail(cause);
			}
		}
		this.undelivered.settle(settlement);
		this.scheduleCatchUp();
		return this.withoutStore().settle(settlement);
	}

	async release(id: string, team: string): Promise<void> {
		this.calls.end(id);
		this.recent.note(id, { team }, this.ports.clock.monotonicMs());
		if (this.awaySinceMs === undefined) {
			try {
				return await this.ask(this.store.release(id, team));
			} catch (cause) {
				this.fail(cause);
			}
		}
		this.undelivered.release(id, team);
		this.scheduleCatchUp();
		return this.withoutStore().release(id, team);
	}

	async extend(id: string, team: string, holds: readonly BudgetHold[]): Promise<boolean> {
		const isRaised = await this.perform((store) => store.extend(id, team, holds));
		if (isRaised) this.calls.raise(id, holds);
		return isRaised;
	}

	async read(team: string, budgets: readonly BudgetPeriod[]): Promise<CounterReading> {
		const reading = await this.perform((store) => store.read(team, budgets));
		if (this.standIn === undefined) this.lastKnown.note(team, reading);
		return reading;
	}

	restore(totals: TeamTotals): Promise<void> {
		return this.perform((store) => store.restore(totals));
	}

	rehold(team: string, calls: readonly HeldCall[]): Promise<void> {
		return this.perform((store) => store.rehold(team, calls));
	}

	onReturn(): void {
		// Taken care of here.
	}

	/** Tells the store what it missed, when it is there. */
	async close(): Promise<void> {
		await this.catchingUp;
		if (this.undelivered.size > 0) await this.catchUp();
		this.isClosed = true;
		this.timer?.cancel();
		if (this.undelivered.size > 0) this.ports.log.warn('counter store was not told everything', { calls: this.undelivered.size });
		await this.store.close();
	}

	state(): CounterStoreState {
		const { size, lost } = this.undelivered;
		return { isReachable: this.awaySinceMs === undefined && this.isConnected(), ...this.counts, undelivered: size, lost };
	}

	private async perform<T>(operation: (store: AdmissionStore) => Promise<T>): Promise<T> {
		if (this.awaySinceMs === undefined) {
			try {
				return await this.ask(operation(this.store));
			} catch (cause) {
				this.fail(cause);
			}
		}
		return operation(this.withoutStore());
	}

	private async ask<T>(answer: AtHand<T>): Promise<T> {
		const value = await answer;
		this.failuresInARow = 0;
		if (this.awaySinceMs === undefined) this.standIn = undefined;
		return value;
	}

	private async admitWithoutStore(request: AdmissionRequest): Promise<Admission> {
		const { budgetsOnFailure } = this.settings;
		const holds = budgetsOnFailure === 'local' ? request.holds : request.holds.map((hold) => ({ ...hold, limitNanoUsd: noLimitNanoUsd }));
		const asked = { ...request, requestsPerMinute: null, dailyTokens: null };
		let admission: Admission;
		if (budgetsOnFailure === 'deny' && holds.length > 0) {
			const reading = await this.withoutStore().read(request.team, holds);
			admission = { isAdmitted: false, binding: 'store', reading };
		} else {
			admission = await this.withoutStore().admit({ ...asked, holds });
		}
		this.scheduleCatchUp();
		if (!admission.isAdmitted) {
			this.counts.declined++;
			return admission;
		}
		this.counts.uncounted++;
		this.calls.start(request, this.ports.clock.nowMs());
		this.undelivered.hold(request.id);
		return { ...admission, isUncounted: true };
	}

	private withoutStore(): AdmissionStore {
		this.standIn ??= createStandIn({ ...this.ports, lastKnown: this.lastKnown, calls: this.calls });
		return this.standIn;
	}

	private heldCalls(): Map<string, HeldCall[]> {
		return this.calls.held(this.calls.ids(), this.ports.clock.nowMs());
	}

	private fail(cause: unknown): void {
		if (!(cause instanceof CountersUnreachable)) throw cause;
		this.counts.failures++;
		if (cause instanceof CountersLate) {
			// All calls that wait when the store falters are given up at once: that is one failure.
			const nowMs = this.ports.clock.monotonicMs();
			if (nowMs - this.lateMs < oneDelayMs) return;
			this.lateMs = nowMs;
		}
		this.failuresInARow++;
		if (this.awaySinceMs !== undefined || this.failuresInARow < failuresToOpen) return;
		this.awaySinceMs = this.ports.clock.nowMs();
		this.counts.outages++;
		this.ports.log.warn('counter store unreachable, calls pass uncounted', {
			cause: cause.message,
			budgets: this.settings.budgetsOnFailure,
		});
		this.scheduleCatchUp();
	}

	private scheduleCatchUp(): void {
		if (this.isClosed) return;
		this.timer ??= this.ports.clock.after(probeMs, () => {
			this.timer = undefined;
			void this.catchUp();
		});
	}

	private catchUp(): Promise<void> {
		this.catchingUp ??= this.reachOut().finally(() => {
			this.catchingUp = undefined;
			if (this.awaySinceMs !== undefined || this.undelivered.size > 0) this.scheduleCatchUp();
		});
		return this.catchingUp;
	}

	/** Reaches for the store, tells it what it missed, and trusts it again. */
	private async reachOut(): Promise<void> {
		const { clock, log } = this.ports;
		const untilMs = clock.monotonicMs() + catchUpMs;
		const { patientStore: store, catchUpDeadlines: deadlines } = this;
		try {
			// A write, and a new one each time: a store that can only be read is of no use. And in time: nor is one that is slow.
			if (this.awaySinceMs !== undefined) await this.deadlines.race(store.release(`probe-${clock.nowMs()}`, probeTeam));
			await this.undelivered.deliver(
				{
					settle: (settlement) => deadlines.race(store.settle(settlement)),
					release: (id, team) => deadlines.race(store.release(id, team)),
					rehold: (team, calls) => deadlines.race(store.rehold(team, calls)),
				},
				() => clock.nowMs(),
				() => clock.monotonicMs() < untilMs,
			);
			this.trustAgain();
		} catch (cause) {
			if (!(cause instanceof CountersUnreachable)) log.error('counter store was told nonsense', { cause: String(cause) });
		}
	}

	private trustAgain(): void {
		this.failuresInARow = 0;
		this.standIn = undefined;
		if (this.awaySinceMs === undefined) return;
		const awayMs = this.ports.clock.nowMs() - this.awaySinceMs;
		this.awaySinceMs = undefined;
		this.ports.log.info('counter store reachable again', { awayMs, uncounted: this.counts.uncounted, undelivered: this.undelivered.size });
	}
}

function inTime(store: AdmissionStore, deadlines: CallDeadlines): AdmissionStore {
	return {
		admit: (request) => deadlines.race(store.admit(request)),
		settle: (settlement) => deadlines.race(store.settle(settlement)),
		release: (id, team) => deadlines.race(store.release(id, team)),
		extend: (id, team, holds) => deadlines.race(store.extend(id, team, holds)),
		read: (team, budgets) => deadlines.race(store.read(team, budgets)),
		restore: (totals) => deadlines.race(store.restore(totals)),
		rehold: (team, calls) => deadlines.race(store.rehold(team, calls)),
		onReturn: (listener) => store.onReturn(listener),
		close: () => store.close(),
	};
}
