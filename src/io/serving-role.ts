import type { Clock } from '../core/clock.ts';
import type { Role } from '../core/handler.ts';
import type { Listener } from './http1/server/http-server.ts';

export interface ServingRoleOptions {
	readonly clock: Clock;
	/** Time for in-flight requests to continue after `stop`. */
	readonly graceMs: () => number;
	/** Prepares what the first request needs; awaited for at most a second. */
	readonly beforeStart?: () => Promise<void>;
	/** Resolves when no work continues without a request. There is none by default. */
	readonly idle?: () => Promise<void>;
	/** Ends requests that outlived the grace time in a way that their clients understand. Without it their connections are closed. */
	readonly endInFlightRequests?: () => void;
}

/** Time for error events to reach their clients before connections are closed. */
const farewellMs = 2000;

const maxWaitedMs = 1000;

/** A role with one handler behind one HTTP server. */
export class ServingRole implements Role {
	readonly name: Role['name'];
	readonly #server: Listener;
	readonly #options: ServingRoleOptions;

	constructor(name: Role['name'], server: Listener, options: ServingRoleOptions) {
		this.name = name;
		this.#server = server;
		this.#options = options;
	}

	async start(): Promise<void> {
		const { beforeStart } = this.#options;
		if (beforeStart !== undefined) await this.#isOverWithin(maxWaitedMs, beforeStart());
		await this.#server.start();
	}

	async stop(): Promise<void> {
		const { graceMs, idle, endInFlightRequests } = this.#options;
		this.#server.drain();
		// Requests may leave work behind, so they are awaited first.
		const isIdle = await this.#isOverWithin(
			graceMs(),
			this.#server.idle().then(() => idle?.()),
		);
		if (!isIdle && endInFlightRequests !== undefined) {
			endInFlightRequests();
			await this.#isOverWithin(farewellMs, this.#server.idle());
		}
		this.#server.destroy();
	}

	#isOverWithin(limitMs: number, work: Promise<void>): Promise<boolean> {
		return new Promise((resolve, reject) => {
			const timer = this.#options.clock.after(limitMs, () => resolve(false));
			work.then(() => {
				timer.cancel();
				resolve(true);
			}, reject);
		});
	}
}
