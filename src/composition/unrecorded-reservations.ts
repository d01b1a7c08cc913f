import type { Clock, Timer } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import { releaseDeadRuns } from '../stores/counter-runs.ts';

export interface UnrecordedReservationsPorts {
	readonly dataDir: string;
	readonly clock: Clock;
	readonly log: Log;
	/** Releases what a process that died reserves still in shared counters. @returns how many reservations there were. */
	readonly abandon: (owner: string) => Promise<number>;
}

/** Between attempts to reach the counters. */
const againMs = 5000;

/** Reservations of processes that died before they recorded the request in the ledger. */
export class UnrecordedReservations {
	readonly #ports: UnrecordedReservationsPorts;
	#timer: Timer | undefined;
	#isStopped = false;

	constructor(ports: UnrecordedReservationsPorts) {
		this.#ports = ports;
	}

	/** To be called once the ledger entries of such processes are settled: what they reserve still has none. */
	async release(): Promise<void> {
		const { dataDir, clock, log, abandon } = this.#ports;
		if (this.#isStopped) return;
		try {
			const requests = await releaseDeadRuns(dataDir, abandon);
			if (requests > 0) log.warn('requests that an earlier process admitted and did not record are released', { requests });
		} catch (cause) {
			log.debug('reservations of an earlier process are not released yet', { cause });
			if (!this.#isStopped) this.#timer = clock.after(againMs, () => void this.release());
		}
	}

	stop(): void {
		this.#isStopped = true;
		this.#timer?.cancel();
	}
}
