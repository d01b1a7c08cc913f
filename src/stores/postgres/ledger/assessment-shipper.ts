import type { Clock, Timer } from '../../../core/clock.ts';
import type { Log } from '../../../core/log.ts';

export interface AssessmentShipperDeps {
	/** Assessments in the file that are not sent to PostgreSQL yet; none while another process sends them. */
	readonly unsent: {
		read(limit: number): Promise<{ readonly through: number; readonly count: number; readonly assessments: string }>;
		forget(through: number): Promise<void>;
	};
	readonly send: (assessments: string) => Promise<unknown>;
	readonly clock: Clock;
	readonly log: Log;
}

const maxPerPart = 2000;
const pauseMs = 1_000;

/** Sends assessments to PostgreSQL: read, send, forget. After a failure in between they are sent again, and count once. */
export class AssessmentShipper {
	readonly #deps: AssessmentShipperDeps;
	#timer: Timer | undefined;
	#sending: Promise<void> | undefined;
	#isFailing = false;
	#hasEnded = false;

	constructor(deps: AssessmentShipperDeps) {
		this.#deps = deps;
	}

	/** Signals new assessments. */
	wake(): void {
		if (this.#hasEnded) return;
		this.#timer ??= this.#deps.clock.after(pauseMs, () => {
			this.#timer = undefined;
			this.flush().catch(() => this.wake());
		});
	}

	/** Resolves when PostgreSQL has all earlier assessments. */
	async flush(): Promise<void> {
		while (this.#sending !== undefined) await this.#sending.catch(() => undefined);
		this.#sending = this.#send().finally(() => {
			this.#sending = undefined;
		});
		return this.#sending;
	}

	/** Stops sending in the background. */
	end(): void {
		this.#hasEnded = true;
		this.#timer?.cancel();
	}

	async #send(): Promise<void> {
		const { unsent, send, log } = this.#deps;
		try {
			for (let isMore = true; isMore; ) {
				const { through, count, assessments } = await unsent.read(maxPerPart);
				if (count === 0) break;
				await send(assessments);
				await unsent.forget(through);
				isMore = count === maxPerPart;
			}
			this.#isFailing = false;
		} catch (cause) {
			if (!this.#isFailing && !this.#hasEnded) {
				log.warn('guardrail assessments cannot be sent to PostgreSQL and stay spooled on this disk', { cause });
			}
			this.#isFailing = true;
			throw cause;
		}
	}
}
