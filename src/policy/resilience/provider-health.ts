import type { HealthReport } from '../../core/health-report.ts';

const firstEjectionMs = 5000;
const longestEjectionMs = 60_000;

/** One moment on both clocks: what is told to operators is Unix time, which may jump; what is waited for goes by the other. */
export interface Moment {
	readonly unixMs: number;
	readonly monotonicMs: number;
}

/**
 * Ejects after failures in a row. When the time of an ejection is over one call may try, and one more after each such time; the first
 * success ends it. Times double, and are drawn from their upper half so that processes do not try together.
 */
export class ProviderHealth {
	#failures = 0;
	/** In a row; 0 while the provider is not ejected. */
	#ejections = 0;
	/** By the monotonic clock. */
	#probeAtMs = 0;
	#isProbed = false;
	#isKnown = false;
	#sinceMs: number | null = null;
	#detail: string | null = null;

	get isEjected(): boolean {
		return this.#ejections > 0;
	}

	/** Whether a call should go there while there is another target. One that is let through as a probe takes the turn of those after it. */
	takeTurn(monotonicMs: number, chance: () => number): boolean {
		if (!this.isEjected) return true;
		if (monotonicMs < this.#probeAtMs) return false;
		this.#isProbed = true;
		// The probe may be lost with its client.
		this.#probeAtMs = monotonicMs + ejectionMs(this.#ejections, chance);
		return true;
	}

	/** @returns whether that ended an ejection. */
	succeeded(unixMs: number): boolean {
		this.#isKnown = true;
		this.#failures = 0;
		if (!this.isEjected) return false;
		this.#ejections = 0;
		this.#isProbed = false;
		this.#sinceMs = unixMs;
		return true;
	}

	/** @param ejectAfterFailures null: never. @returns whether that began an ejection. */
	failed(detail: string, ejectAfterFailures: number | null, now: Moment, chance: () => number): boolean {
		this.#isKnown = true;
		this.#detail = detail;
		this.#failures++;
		const isFirst = !this.isEjected;
		// Calls that were sent before the ejection fail late and say nothing new.
		if (isFirst ? ejectAfterFailures === null || this.#failures < ejectAfterFailures : !this.#isProbed) return false;
		this.#isProbed = false;
		this.#ejections++;
		this.#probeAtMs = now.monotonicMs + ejectionMs(this.#ejections, chance);
		if (isFirst) this.#sinceMs = now.unixMs;
		return isFirst;
	}

	report(): HealthReport {
		const state = this.isEjected ? 'unhealthy' : this.#isKnown ? 'healthy' : 'unknown';
		return { state, sinceMs: this.#sinceMs, detail: this.#detail };
	}
}

function ejectionMs(ejections: number, chance: () => number): number {
	return Math.min(firstEjectionMs * 2 ** (ejections - 1), longestEjectionMs) * (0.5 + chance() / 2);
}

interface JoinedReports extends HealthReport {
	/** How many say that it is unhealthy. */
	readonly ejectedBy: number;
}

/**
 * What several gateways say of one provider. Who has not called it has no say; of the others one is enough to be unhealthy, since its
 * calls suffer. Unhealthy is it since the first of them found it so, healthy since the last of them did.
 */
export function joinReports(reports: readonly HealthReport[]): JoinedReports {
	const ejecting = reports.filter(({ state }) => state === 'unhealthy');
	const isKnown = reports.some(({ state }) => state !== 'unknown');
	const state = ejecting.length > 0 ? 'unhealthy' : isKnown ? 'healthy' : 'unknown';
	const times = (ejecting.length > 0 ? ejecting : reports).flatMap(({ sinceMs }) => (sinceMs === null ? [] : [sinceMs]));
	const sinceMs = times.length === 0 ? null : ejecting.length > 0 ? Math.min(...times) : Math.max(...times);
	const latestFirst = reports.toSorted((left, right) => (right.sinceMs ?? 0) - (left.sinceMs ?? 0));
	const detail = [...latestFirst.filter((one) => one.state === state), ...latestFirst].find((one) => one.detail !== null)?.detail ?? null;
	return { state, sinceMs, detail, ejectedBy: ejecting.length };
}
