import type { Clock } from '../core/clock.ts';
import type { Admission } from '../core/counters.ts';
import type { Log } from '../core/log.ts';
import type { AdmissionRequest, AdmissionStore, Settled, Settlement } from './contracts/admission.ts';
import type { SumUpTeam } from './restoring-admission.ts';

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
	/** Teams whose counters are not restored yet, so that their calls pass without the store. */
	readonly unrestoredTeams: number;
	/** Since the start: ends of calls that there were too many of to keep; the ledger has them. */
	readonly lost: number;
}
