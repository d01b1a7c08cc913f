import type { Clock } from '../core/clock.ts';
import type { Role } from '../core/handler.ts';
import type { Listener } from './http1/server/http-server.ts';

export interface ServingRoleOptions {
	readonly clock: Clock;
	/** How long what is in flight may go on after `stop`. */
	readonly graceMs: () => number;
	/** What should be there before the first request is taken; it is not waited for longer than a second. */
	readonly beforeStart?: () => Promise<void>;
	/** Ends what outlived the grace time in a way its clients understand; without it their connections are cut. */
	readonly endOpenCalls?: () => void;
}

/** For the error events to reach their clients before connections are cut. */
const farewellMs = 2000;

const mostWaitedMs = 1000;

/** A role that is one handler behind one HTTP server. */
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
		if (beforeStart !== undefined) await this.#isOverWithin(mostWaitedMs, beforeStart());
		await this.#server.start();
	}

	async stop(): Promise<void> {
		const { graceMs, endOpenCalls } = this.#options;
		this.#server.drain();
		const isIdle = await this.#isOverWithin(graceMs(), this.#server.idle());
		if (!isIdle && endOpenCalls !== undefined) {
			endOpenCalls();
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
