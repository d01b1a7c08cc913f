import type { Clock, Timer } from '../../core/clock.ts';
import { Rejection } from '../../core/rejection.ts';
import { UpstreamError } from '../../core/upstream-error.ts';
import type { TrafficSettings } from '../../policy/resilience/traffic-settings.ts';
import type { RequestScope } from './request-scope/request-scope.ts';

/** Time by which some of the queued requests have a slot. */
const retryAfterSeconds = 1;

/** Number of idle teams that keep their entry, because adding and removing it with each request would cost more. */
const maxIdleTeams = 1000;

/** Limits the in-flight requests of one provider, and shares its slots fairly between queued teams. */
export class ConcurrencyLimiter {
	#inFlight = 0;
	#queued = 0;
	#terms: TrafficSettings | undefined;
	/** Terms of earlier configurations. Some of their requests may still come back for a retry. */
	readonly #superseded = new WeakSet<TrafficSettings>();
	readonly #teams = new Map<string, TeamShare>();
	/** Teams with requests in the queue. The team that got a slot last comes last. */
	readonly #waiting = new Set<TeamShare>();

	get inFlight(): number {
		return this.#inFlight;
	}

	get queued(): number {
		return this.#queued;
	}

	/**
	 * Acquires a slot for the request's team, which `scope` releases at its end at the latest. A freed slot goes to the queued team with
	 * the fewest slots. In a full queue, a team with a smaller share replaces the latest request of the team with the largest share. The
	 * first request under new terms applies them to all.
	 * @returns undefined if a slot was free. Otherwise a promise of undefined when a slot is free, or of the reason for the failure:
	 * `Rejection` `provider_busy`, `UpstreamError` `provider_first_byte_timeout`. It rejects with the reason of an abort.
	 */
	acquire(
		scope: RequestScope,
		terms: TrafficSettings,
		maxWaitMs: number,
		clock: Clock,
	): Promise<UpstreamError | Rejection | undefined> | undefined {
		const { maxConcurrent, maxQueued } = this.#follow(terms);
		const share = this.#shareOf(scope.recorder.team?.id ?? '');
		if (this.#inFlight < maxConcurrent && this.#queued === 0) {
			this.#give(share, scope);
			return undefined;
		}
		if (maxQueued === 0 || (this.#queued >= maxQueued && !this.#freeCapacityFor(share))) {
			this.#forgetIdle(share);
			return Promise.resolve(busy());
		}
		return this.#wait(share, scope, maxWaitMs, clock);
	}

	/** @returns the terms that apply. */
	#follow(terms: TrafficSettings): TrafficSettings {
		if (this.#terms === terms) return terms;
		if (this.#terms !== undefined) {
			if (this.#superseded.has(terms)) return this.#terms;
			this.#superseded.add(this.#terms);
		}
		this.#terms = terms;
		this.#admit();
		return terms;
	}

	#shareOf(team: string): TeamShare {
		let share = this.#teams.get(team);
		if (share === undefined) {
			share = new TeamShare(team, (released) => this.#release(released));
			this.#teams.set(team, share);
		}
		return share;
	}

	#give(share: TeamShare, scope: RequestScope): void {
		this.#inFlight++;
		share.inFlight++;
		scope.trackSlot(share);
	}

	#release(share: TeamShare): void {
		this.#inFlight--;
		share.inFlight--;
		this.#forgetIdle(share);
		this.#admit();
	}

	#admit(): void {
		const maxConcurrent = this.#terms?.maxConcurrent ?? 0;
		while (this.#inFlight < maxConcurrent && this.#queued > 0) {
			const share = smallest(this.#waiting);
			// Round robin among teams with equal shares.
			this.#waiting.delete(share);
			this.#waiting.add(share);
			share.queue.oldest?.admit();
		}
	}

	/** Excludes a team that would then have the same share as the other one: both would replace each other's requests forever. */
	#freeCapacityFor(share: TeamShare): boolean {
		const other = largest(this.#waiting);
		if (other.size <= share.size + 1) return false;
		other.queue.newest?.reject();
		return true;
	}

	#wait(share: TeamShare, scope: RequestScope, maxWaitMs: number, clock: Clock): Promise<UpstreamError | Rejection | undefined> {
		return scope.wait((resolve) => {
			const settle = (): void => {
				waiter.timer.cancel();
				this.#leaveQueue(share, waiter);
			};
			const waiter = new Waiter({
				timer: clock.after(maxWaitMs, () => {
					settle();
					const message = 'No slot became free for the request within `gateway.timeouts.first_byte_ms` (`providers.NAME.max_concurrent`)';
					resolve(new UpstreamError('provider_first_byte_timeout', { message }));
				}),
				admit: () => {
					// Before the request leaves the queue, because a team with neither slot nor queued request is removed.
					this.#give(share, scope);
					settle();
					resolve(undefined);
				},
				reject: () => {
					settle();
					resolve(busy());
				},
			});
			share.queue.add(waiter);
			this.#queued++;
			this.#waiting.add(share);
			return settle;
		});
	}

	#leaveQueue(share: TeamShare, waiter: Waiter): void {
		if (!share.queue.remove(waiter)) return;
		this.#queued--;
		if (share.queue.size > 0) return;
		this.#waiting.delete(share);
		this.#forgetIdle(share);
	}

	#forgetIdle(share: TeamShare): void {
		if (share.size === 0 && this.#teams.size > maxIdleTeams) this.#teams.delete(share.team);
	}
}

/** Slots and queued requests of one team. */
class TeamShare {
	readonly team: string;
	readonly queue = new WaiterQueue();
	inFlight = 0;
	readonly #release: (share: TeamShare) => void;

	constructor(team: string, release: (share: TeamShare) => void) {
		this.team = team;
		this.#release = release;
	}

	get size(): number {
		return this.inFlight + this.queue.size;
	}

	release(): void {
		this.#release(this);
	}
}

interface Waiting {
	readonly timer: Timer;
	readonly admit: () => void;
	/** Called when another team takes the place in the queue. */
	readonly reject: () => void;
}

class Waiter {
	readonly timer: Timer;
	readonly admit: () => void;
	readonly reject: () => void;
	isQueued = false;
	older: Waiter | undefined;
	newer: Waiter | undefined;

	constructor({ timer, admit, reject }: Waiting) {
		this.timer = timer;
		this.admit = admit;
		this.reject = reject;
	}
}

/** Linked list, so that removal is constant time at either end and in between. */
class WaiterQueue {
	size = 0;
	oldest: Waiter | undefined;
	newest: Waiter | undefined;

	add(waiter: Waiter): void {
		waiter.isQueued = true;
		waiter.older = this.newest;
		if (this.newest === undefined) this.oldest = waiter;
		else this.newest.newer = waiter;
		this.newest = waiter;
		this.size++;
	}

	/** @returns true if it was queued. */
	remove(waiter: Waiter): boolean {
		if (!waiter.isQueued) return false;
		waiter.isQueued = false;
		const { older, newer } = waiter;
		if (older === undefined) this.oldest = newer;
		else older.newer = newer;
		if (newer === undefined) this.newest = older;
		else newer.older = older;
		waiter.older = undefined;
		waiter.newer = undefined;
		this.size--;
		return true;
	}
}

function busy(): Rejection {
	return new Rejection('provider_busy', { retryAfterSeconds });
}

/** Returns the first share with the fewest slots. */
function smallest(shares: Iterable<TeamShare>): TeamShare {
	return [...shares].reduce((best, share) => (share.inFlight < best.inFlight ? share : best));
}

function largest(shares: Iterable<TeamShare>): TeamShare {
	return [...shares].reduce((best, share) => (share.size > best.size ? share : best));
}
