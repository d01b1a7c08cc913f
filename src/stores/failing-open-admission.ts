/**
 * Handles all failures of a counter store (Spec: Errors, rule 5). A fallback serves operations while the store is unreachable, or while the
 * counters of one team cannot be restored. Operations that the store missed are replayed by request id, which is safe.
 */
import type { Timer } from '../core/clock.ts';
import type { Admission, BudgetPeriod, CounterReading, RateLimit } from '../core/counters.ts';
import {
	type AdmissionRequest,
	type AdmissionStore,
	type BudgetReservation,
	CountersUnreachable,
	type MaybePromise,
	type ReservedRequest,
	type Settled,
	type Settlement,
	type TeamTotals,
} from './contracts/admission.ts';
import {
	type CounterStoreState,
	catchUpMs,
	catchUpPatience,
	type FailingOpenAdmission,
	type FailingOpenPorts,
	type FailingOpenSettings,
	failuresToOpen,
	oneDelayMs,
	patience,
	probeMs,
	probeTeam,
	reservationsDuringOutage,
	restorePatience,
	settlementMs,
} from './failing-open-settings.ts';
import { FallbackCounters, UnsyncedTeams } from './fallback-counters.ts';
import { LastKnown } from './last-known-counters.ts';
import { CountersLate, inTime, OperationDeadlines } from './operation-deadlines.ts';
import { RecentSettlements, ReplayQueue } from './replay-queue.ts';
import { RequestsInFlight } from './requests-in-flight.ts';
import { CountersNotRestored, createTeamRestorer, type RestoringPorts, restoreMissing } from './restoring-admission.ts';

export function failOpen(store: AdmissionStore, settings: FailingOpenSettings, ports: FailingOpenPorts): FailingOpenAdmission {
	return new FailingOpen(store, settings, ports);
}

class FailingOpen implements FailingOpenAdmission {
	/** Responds within the deadline, or fails. */
	private readonly store: AdmissionStore;
	/** The same store with a longer deadline, for work that no request waits for. */
	private readonly patientStore: AdmissionStore;
	readonly isConnected: () => boolean;
	private readonly settings: FailingOpenSettings;
	private readonly ports: FailingOpenPorts;
	private readonly deadlines: OperationDeadlines;
	private readonly catchUpDeadlines: OperationDeadlines;
	private readonly requests = new RequestsInFlight();
	private readonly replayQueue = new ReplayQueue(this.requests);
	private readonly recent = new RecentSettlements();
	private readonly lastKnown = new LastKnown();
	private readonly fallbacks: FallbackCounters;
	private readonly unsynced = new UnsyncedTeams();
	private hasWarnedOfTeams = false;
	private timer: Timer | undefined;
	private catchingUp: Promise<void> | undefined;
	private readonly returning = new Map<string, Promise<void>>();
	private isClosed = false;
	private failuresInARow = 0;
	private lateMs = Number.NEGATIVE_INFINITY;
	private outageSinceMs: number | undefined;
	private lastOutage = { sinceMs: 0, untilMs: Number.NEGATIVE_INFINITY };
	private readonly counts = { uncounted: 0, rejected: 0, failures: 0, outages: 0 };

	constructor(store: AdmissionStore, settings: FailingOpenSettings, ports: FailingOpenPorts) {
		this.isConnected = () => store.isConnected?.() ?? true;
		this.settings = settings;
		this.ports = ports;
		this.fallbacks = new FallbackCounters({ ...ports, lastKnown: this.lastKnown, requests: this.requests });
		this.deadlines = new OperationDeadlines(ports.clock, patience);
		this.catchUpDeadlines = new OperationDeadlines(ports.clock, catchUpPatience);
		const restoring: RestoringPorts = {
			clock: ports.clock,
			sumUp: ports.sumUp,
			alsoNeeded: (team) => [...this.requests.budgetsOf(team), ...this.replayQueue.budgetsOf(team)],
			endedSinceMs: (team) => this.endedSinceMs(team),
			afterRestore: async (team) => {
				const requests = this.requests.reserved(this.requests.ids(), ports.clock.nowMs()).get(team);
				if (requests !== undefined) await this.catchUpDeadlines.race(store.restoreReservations(team, requests));
			},
		};
		// Shared by both. Summing up the ledger does not count as the store's time.
		const restore = createTeamRestorer(inTime(store, new OperationDeadlines(ports.clock, restorePatience)), restoring);
		this.store = restoreMissing(inTime(store, this.deadlines), restoring, restore);
		this.patientStore = restoreMissing(inTime(store, this.catchUpDeadlines), restoring, restore);
		store.onReturn(() => {
			for (const id of this.requests.ids()) this.replayQueue.retain(id, this.requests.teamOf(id) ?? '');
			this.noteRecentSettlements();
			void this.catchUp();
		});
	}

	async admit(request: AdmissionRequest): Promise<Admission> {
		if (this.isTrusted(request.team)) {
			try {
				const admission = await this.query(request.team, this.store.admit(request));
				this.noteReading(request.team, admission.reading);
				if (admission.isAdmitted) this.requests.start(request, this.ports.clock.nowMs(), admission.reservedNanoUsd);
				return admission;
			} catch (cause) {
				this.fail(cause, request.team, request.reservations);
			}
			const admission = await this.admitWithoutStore(request);
			// The store may have admitted the request nevertheless.
			if (!admission.isAdmitted) this.replayQueue.release(request.id, request.team);
			return admission;
		}
		return this.admitWithoutStore(request);
	}

	async settle(settlement: Settlement): Promise<Settled> {
		this.requests.end(settlement.id);
		this.recent.note(settlement.id, { settlement }, this.ports.clock.monotonicMs());
		const { team, budgets } = settlement;
		if (this.isTrusted(team)) {
			try {
				const settled = await this.query(team, this.store.settle(settlement));
				this.lastKnown.noteBudgets(team, settled.budgets, this.ports.clock.nowMs());
				return settled;
			} catch (cause) {
				this.fail(cause, team, budgets);
			}
		}
		this.replayQueue.settle(settlement);
		this.scheduleCatchUp();
		return this.fallbacks.of(team).settle(settlement);
	}

	async release(id: string, team: string): Promise<void> {
		this.requests.end(id);
		this.recent.note(id, { team }, this.ports.clock.monotonicMs());
		if (this.isTrusted(team)) {
			try {
				return await this.query(team, this.store.release(id, team));
			} catch (cause) {
				this.fail(cause, team, []);
			}
		}
		this.replayQueue.release(id, team);
		this.scheduleCatchUp();
		return this.fallbacks.of(team).release(id, team);
	}

	async extend(id: string, team: string, reservations: readonly BudgetReservation[]): Promise<boolean> {
		const isRaised = await this.perform(team, reservations, (store) => store.extend(id, team, reservations));
		if (isRaised) this.requests.raise(id, reservations);
		return isRaised;
	}

	async grow(id: string, team: string, reservations: readonly BudgetReservation[], reservationMs: number): Promise<bigint | undefined> {
		this.requests.renew(id, this.ports.clock.nowMs() + reservationMs);
		const reserved = await this.growSomewhere(id, team, reservations, reservationMs);
		if (reserved !== undefined) this.requests.raiseTo(id, reservations, reserved);
		return reserved;
	}

	/** Uses the longer deadline, because no request waits for it. Without the store, `deny` reserves nothing more on a budget. */
	private async growSomewhere(...[id, team, reservations, reservationMs]: Parameters<AdmissionStore['grow']>): Promise<bigint | undefined> {
		if (this.isTrusted(team)) {
			try {
				return await this.query(team, this.patientStore.grow(id, team, reservations, reservationMs));
			} catch (cause) {
				this.fail(cause, team, reservations);
			}
		}
		if (this.settings.budgetsOnFailure === 'deny' && reservations.length > 0) return undefined;
		return this.fallbacks.of(team).grow(id, team, reservationsDuringOutage(reservations, this.settings), reservationMs);
	}

	async read(team: string, budgets: readonly BudgetPeriod[], limits: readonly RateLimit[] = []): Promise<CounterReading> {
		const reading = await this.perform(team, budgets, (store) => store.read(team, budgets, limits));
		if (!this.fallbacks.has(team)) this.noteReading(team, reading);
		return reading;
	}

	restore(totals: TeamTotals): Promise<void> {
		return this.perform(totals.team, [], (store) => store.restore(totals));
	}

	restoreReservations(team: string, requests: readonly ReservedRequest[]): Promise<void> {
		return this.perform(team, [], (store) => store.restoreReservations(team, requests));
	}

	onReturn(): void {
		// This class handles the return of the store itself.
	}

	async close(): Promise<void> {
		await this.catchingUp;
		await this.returned();
		if (this.replayQueue.size > 0) await this.catchUp();
		await this.returned();
		this.isClosed = true;
		this.timer?.cancel();
		if (this.replayQueue.size > 0) this.ports.log.warn('counter store did not receive all updates', { requests: this.replayQueue.size });
		await this.store.close();
	}

	state(): CounterStoreState {
		const { size, lost } = this.replayQueue;
		const isReachable = this.outageSinceMs === undefined && this.isConnected();
		return { isReachable, ...this.counts, replayQueue: size, lost, unrestoredTeams: this.unsynced.size };
	}

	/** Counters may have been lost and restored, by any process, without a broken connection. */
	private noteReading(team: string, reading: CounterReading): void {
		if (!this.lastKnown.note(team, reading)) return;
		this.noteRecentSettlements(team);
		// Scheduled, because requests are waiting for the store at this moment.
		this.scheduleCatchUp();
	}

	/** Replays recent ends: the store may have been restored from a ledger that does not contain them yet. Known ends change nothing. */
	private noteRecentSettlements(team?: string): void {
		for (const [id, end] of this.recent.latest(this.ports.clock.monotonicMs(), team)) this.replayQueue.notify(id, end);
	}

	private isTrusted(team: string): boolean {
		return this.outageSinceMs === undefined && (this.unsynced.size === 0 || !this.unsynced.has(team));
	}

	private async perform<T>(team: string, budgets: readonly BudgetPeriod[], operation: (store: AdmissionStore) => Promise<T>): Promise<T> {
		if (this.isTrusted(team)) {
			try {
				return await this.query(team, operation(this.store));
			} catch (cause) {
				this.fail(cause, team, budgets);
			}
		}
		return operation(this.fallbacks.of(team));
	}

	private async query<T>(team: string, response: MaybePromise<T>): Promise<T> {
		const value = await response;
		this.failuresInARow = 0;
		if (this.fallbacks.size > 0 && this.isTrusted(team)) this.fallbacks.drop(team);
		return value;
	}

	private async admitWithoutStore(request: AdmissionRequest): Promise<Admission> {
		const reservations = reservationsDuringOutage(request.reservations, this.settings);
		const requested = { ...request, limits: [] };
		let admission: Admission;
		if (this.settings.budgetsOnFailure === 'deny' && reservations.length > 0) {
			const reading = await this.fallbacks.of(request.team).read(request.team, reservations);
			admission = { isAdmitted: false, binding: 'store', reading };
		} else {
			admission = await this.fallbacks.of(request.team).admit({ ...requested, reservations });
		}
		this.scheduleCatchUp();
		if (!admission.isAdmitted) {
			this.counts.rejected++;
			return admission;
		}
		this.counts.uncounted++;
		this.requests.start(request, this.ports.clock.nowMs(), admission.reservedNanoUsd);
		this.replayQueue.retain(request.id, request.team);
		return { ...admission, isUncounted: true };
	}

	/** Earlier requests were settled, in every process, before their team is restored. */
	private endedSinceMs(team: string): number {
		const nowMs = this.ports.clock.nowMs();
		const outageMs = nowMs - this.lastOutage.untilMs < settlementMs ? this.lastOutage.sinceMs : nowMs;
		return Math.min(outageMs, this.outageSinceMs ?? nowMs, this.unsynced.get(team)?.sinceMs ?? nowMs) - settlementMs;
	}

	private fail(cause: unknown, team: string, budgets: readonly BudgetPeriod[]): void {
		if (!(cause instanceof CountersUnreachable)) throw cause;
		this.counts.failures++;
		if (cause instanceof CountersNotRestored) {
			this.giveUpTeam(cause, team, budgets);
			return;
		}
		if (cause instanceof CountersLate) {
			// One stall of the store makes all waiting operations late at once, which counts as one failure.
			const nowMs = this.ports.clock.monotonicMs();
			if (nowMs - this.lateMs < oneDelayMs) return;
			this.lateMs = nowMs;
		}
		this.failuresInARow++;
		if (this.outageSinceMs !== undefined || this.failuresInARow < failuresToOpen) return;
		this.outageSinceMs = this.ports.clock.nowMs();
		this.counts.outages++;
		this.ports.log.warn('counter store unreachable, requests pass uncounted', {
			cause: cause.message,
			budgets: this.settings.budgetsOnFailure,
		});
		this.scheduleCatchUp();
	}

	/** Gives up the counters of one team; other teams still use the store. */
	private giveUpTeam(cause: CountersNotRestored, team: string, budgets: readonly BudgetPeriod[]): void {
		this.unsynced.add(team, this.ports.clock.nowMs(), budgets);
		if (!this.hasWarnedOfTeams) {
			this.hasWarnedOfTeams = true;
			this.ports.log.warn('counters of a team cannot be restored, its requests pass uncounted', { team, cause });
		}
		this.scheduleCatchUp();
	}

	private scheduleCatchUp(): void {
		if (this.isClosed) return;
		this.timer ??= this.ports.clock.after(probeMs, () => {
			this.timer = undefined;
			void this.catchUp();
		});
	}

	private scheduleRemaining(): void {
		if (this.outageSinceMs !== undefined || this.replayQueue.size > 0 || this.unsynced.size > 0) this.scheduleCatchUp();
	}

	private catchUp(): Promise<void> {
		this.catchingUp ??= this.reachOut().finally(() => {
			this.catchingUp = undefined;
			this.scheduleRemaining();
		});
		return this.catchingUp;
	}

	/** Probes the store, and uses it again for each team once it has all updates of the team. */
	private async reachOut(): Promise<void> {
		if (this.outageSinceMs !== undefined) {
			try {
				// Probes with a write, different each time, because a read-only store is of no use. The deadline is that of requests, because a
				// slow store is of no use either.
				await this.deadlines.race(this.patientStore.release(`probe-${this.ports.clock.nowMs()}`, probeTeam));
			} catch (cause) {
				this.noteFailure(cause);
				return;
			}
			this.trustAgain();
		}
		for (const team of new Set([...this.unsynced.names, ...this.replayQueue.teams])) this.returnTeam(team);
	}

	/** Teams are restored concurrently. */
	private returnTeam(team: string): void {
		if (this.returning.has(team)) return;
		const returning = this.replayMissed(team)
			.catch((cause: unknown) => this.noteFailure(cause))
			.finally(() => {
				this.returning.delete(team);
				this.scheduleRemaining();
			});
		this.returning.set(team, returning);
	}

	/** Restores a team's counters, replays what the store missed, and uses the store for the team again. */
	private async replayMissed(team: string): Promise<void> {
		const { clock } = this.ports;
		const unsynced = this.unsynced.get(team);
		if (unsynced?.budgets !== undefined) await this.patientStore.read(team, unsynced.budgets);
		const untilMs = clock.monotonicMs() + catchUpMs;
		const deliver = (canContinue: () => boolean): Promise<void> =>
			this.replayQueue.deliver(team, this.patientStore, () => clock.nowMs(), canContinue);
		await deliver(() => clock.monotonicMs() < untilMs);
		this.trustTeam(team);
		await deliver(() => !this.isClosed);
	}

	private trustTeam(team: string): void {
		if (this.outageSinceMs !== undefined) return;
		this.unsynced.delete(team);
		this.fallbacks.drop(team);
		if (!this.hasWarnedOfTeams || this.unsynced.size > 0) return;
		this.hasWarnedOfTeams = false;
		this.ports.log.info('counters of all teams restored');
	}

	/** Uses the store again, except for teams with pending updates. */
	private trustAgain(): void {
		this.failuresInARow = 0;
		if (this.outageSinceMs === undefined) return;
		const { clock, log } = this.ports;
		this.lastOutage = { sinceMs: this.outageSinceMs, untilMs: clock.nowMs() };
		this.outageSinceMs = undefined;
		for (const team of this.replayQueue.teams) this.unsynced.add(team, this.lastOutage.sinceMs, undefined);
		this.fallbacks.keep((team) => this.unsynced.has(team));
		const outageMs = this.lastOutage.untilMs - this.lastOutage.sinceMs;
		log.info('counter store reachable again', { outageMs, uncounted: this.counts.uncounted, pendingUpdates: this.replayQueue.size });
	}

	private noteFailure(cause: unknown): void {
		if (!(cause instanceof CountersUnreachable)) this.ports.log.error('invalid counter store operation', { cause: String(cause) });
	}

	/** Waits for the replay of teams, but not for a ledger that does not respond. */
	private async returned(): Promise<void> {
		await this.catchUpDeadlines.race(Promise.all(this.returning.values())).catch(() => undefined);
	}
}
