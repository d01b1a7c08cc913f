import type { HealthReport } from '../../core/health-report.ts';

const firstEjectionMs = 5000;
const longestEjectionMs = 60_000;

/**
 * Ejects after failures in a row. When the time of an ejection is over one call may try, and one more after each such time; the first
 * success ends it. Times double, and are drawn from their upper half so that processes do not try together.
 */
export class ProviderHealth {
	#failures = 0;
	/** In a row; 0 while the provider is not ejected. */
	#ejections = 0;
	#probeAtMs = 0;
	#isProbed = false;
	#isKnown = false;
	#sinceMs: number | null = null;
	#detail: string | null = null;

	get isEjected(): boolean {
		return this.#ejections > 0;
	}

	/** Whether a call should go there while there is another target. One that is let through as a probe takes the turn of those after it. */
	takeTurn(nowMs: number, chance: () => number): boolean {
		if (!this.isEjected) return true;
		if (nowMs < this.#probeAtMs) return false;
		this.#isProbed = true;
		// The probe may be lost with its client.
		this.#probeAtMs = nowMs + ejectionMs(this.#ejections, chance);
		return true;
	}

	/** @returns whether that ended an ejection. */
	succeeded(nowMs: number): boolean {
		this.#isKnown = true;
		this.#failures = 0;
		if (!this.isEjected) return false;
		this.#ejections = 0;
		this.#isProbed = false;
		this.#sinceMs = nowMs;
		return true;
	}

	/** @param ejectAfterFailures null: never. @returns whether that began an ejection. */
	failed(detail: string, ejectAfterFailures: number | null, nowMs: number, chance: () => number): boolean {
		this.#isKnown = true;
		this.#detail = detail;
		this.#failures++;
		const isFirst = !this.isEjected;
		// Calls that were sent before the ejection fail late and say nothing new.
		if (isFirst ? ejectAfterFailures === null || this.#failures < ejectAfterFailures : !this.#isProbed) return false;
		this.#isProbed = false;
		this.#ejections++;
		this.#probeAtMs = nowMs + ejectionMs(this.#ejections, chance);
		if (isFirst) this.#sinceMs = nowMs;
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
