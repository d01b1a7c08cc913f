import type { Clock, Timer } from '../core/clock.ts';
import type { Listener } from './http1/server/http-server.ts';

/** Delay before the server is opened again while its address is in use. */
const retryMs = 100;

/** A server that can close for a while. Meanwhile the system rejects connections to its address. */
export class ReopeningServer implements Listener {
	readonly #open: (port?: number) => Listener;
	readonly #clock: Clock;
	#server: Listener;
	#port: number | undefined;
	#reopening: Timer | undefined;
	#isEnded = false;

	/** @param open creates a server, on the given port if there is one. */
	constructor(open: (port?: number) => Listener, clock: Clock) {
		this.#open = open;
		this.#clock = clock;
		this.#server = open();
	}

	get inFlight(): number {
		return this.#server.inFlight;
	}

	get openConnections(): number {
		return this.#server.openConnections;
	}

	async start(): Promise<{ host: string; port: number }> {
		const address = await this.#server.start();
		this.#port = address.port;
		return address;
	}

	/** Closes every connection and rejects new ones for this time, measured from the latest call. */
	closeFor(seconds: number): void {
		if (this.#port === undefined || this.#isEnded) return;
		this.#server.destroy();
		this.#reopenAfter(seconds * 1000);
	}

	drain(): void {
		this.#end();
		this.#server.drain();
	}

	idle(): Promise<void> {
		return this.#server.idle();
	}

	destroy(): void {
		this.#end();
		this.#server.destroy();
	}

	#reopenAfter(delayMs: number): void {
		this.#reopening?.cancel();
		this.#reopening = this.#clock.after(delayMs, () => {
			const server = this.#open(this.#port);
			this.#server = server;
			server.start().catch(() => {
				if (this.#server === server && !this.#isEnded) this.#reopenAfter(retryMs);
			});
		});
	}

	#end(): void {
		this.#isEnded = true;
		this.#reopening?.cancel();
	}
}
