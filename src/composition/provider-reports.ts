/** Publishes provider health from processes that serve requests to admin APIs in other processes. No request waits for it. */
import { randomUUID } from 'node:crypto';
import type { Clock, Timer } from '../core/clock.ts';
import type { ProviderReport } from '../core/health-report.ts';
import type { Log } from '../core/log.ts';
import type { ProviderReports } from '../stores/contracts/records.ts';

const pollMs = 1_000;
/** Interval at which an unchanged report is published again. */
const reportEveryMs = 10_000;
/** Lifetime of a report: a process without a newer one is considered gone. */
const lifeMs = 30_000;
/** Limits the wait at shutdown for a store that does not respond. */
const maxWaitedMs = 1_000;

/** Rate limits change with every request, and are published only at the interval. */
function withoutRateLimits(name: string, value: unknown): unknown {
	return name === 'rateLimits' ? undefined : value;
}

export interface ProviderReporterPorts {
	readonly report: () => ProviderReport;
	readonly store: ProviderReports;
	readonly clock: Clock;
	readonly log: Log;
}

export class ProviderReporter {
	readonly #process = randomUUID();
	readonly #ports: ProviderReporterPorts;
	#timer: Timer;
	#sentReport: string | undefined;
	#dueMs = 0;
	#sending: Promise<void> | undefined;
	#isLost = false;

	constructor(ports: ProviderReporterPorts) {
		this.#ports = ports;
		this.#timer = ports.clock.after(0, () => this.#poll());
	}

	/** Reads the reports of all processes; while the store is unavailable, only of this one. */
	async read(): Promise<readonly ProviderReport[]> {
		const { store, report } = this.#ports;
		const others = new Map(await store.read().catch(() => []));
		others.delete(this.#process);
		return [report(), ...others.values()];
	}

	async stop(): Promise<void> {
		const { store, clock } = this.#ports;
		this.#timer.cancel();
		const forgotten = Promise.resolve(this.#sending).then(() => store.forget(this.#process));
		const { promise: patience, resolve } = Promise.withResolvers<void>();
		const timer = clock.after(maxWaitedMs, resolve);
		// The report expires anyway, only later.
		await Promise.race([forgotten.catch(() => undefined), patience]);
		timer.cancel();
	}

	#poll(): void {
		this.#timer = this.#ports.clock.after(pollMs, () => this.#poll());
		if (this.#sending !== undefined) return;
		const nowMs = this.#ports.clock.monotonicMs();
		const report = this.#ports.report();
		const text = JSON.stringify(report, withoutRateLimits);
		// A failed report is retried only at the next interval, so that an unavailable store gets no request every second.
		if (nowMs < this.#dueMs && (text === this.#sentReport || this.#isLost)) return;
		this.#sentReport = text;
		this.#dueMs = nowMs + reportEveryMs;
		this.#sending = this.#send(report).finally(() => (this.#sending = undefined));
	}

	async #send(report: ProviderReport): Promise<void> {
		const { store, log } = this.#ports;
		try {
			await store.put(this.#process, report, lifeMs);
			if (this.#isLost) log.info('provider health is shared with other processes again');
			this.#isLost = false;
		} catch (cause) {
			if (!this.#isLost) log.warn('provider health cannot be shared with other processes', { cause });
			this.#isLost = true;
		}
	}
}
