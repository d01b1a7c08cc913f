import { type HealthReport, type ProviderRateLimit, rateLimitKinds } from '../../core/health-report.ts';

const firstEjectionMs = 5000;
const maxEjectionMs = 60_000;

/** Moment on two clocks: Unix time, which can jump, for operators; the monotonic clock for timers. */
export interface Moment {
	readonly unixMs: number;
	readonly monotonicMs: number;
}

/**
 * Ejects a provider after consecutive failures. When the ejection time is over, one request probes the provider, and one more after each
 * further interval; the first success ends the ejection. Intervals double, and are randomised in their upper half so that processes do not
 * probe together.
 */
export class ProviderHealth {
	#failures = 0;
	/** Consecutive ejections; 0 while the provider is not ejected. */
	#ejections = 0;
	/** Time of the next probe on the monotonic clock. */
	#probeAtMs = 0;
	#isProbed = false;
	#isKnown = false;
	#sinceMs: number | null = null;
	#detail: string | null = null;

	get isEjected(): boolean {
		return this.#ejections > 0;
	}

	/** False before the first result. */
	get isKnown(): boolean {
		return this.#isKnown;
	}

	/**
	 * Tells whether a request should use the provider while there is another target. A request that is accepted as a probe postpones the next
	 * one.
	 */
	takeDiscoveryTurn(monotonicMs: number, chance: () => number): boolean {
		if (!this.isEjected) return true;
		if (monotonicMs < this.#probeAtMs) return false;
		this.#isProbed = true;
		// The probe's result can be lost when its client disconnects.
		this.#probeAtMs = monotonicMs + ejectionMs(this.#ejections, chance);
		return true;
	}

	/** @returns true if this ended an ejection. */
	succeeded(unixMs: number): boolean {
		this.#isKnown = true;
		this.#failures = 0;
		if (!this.isEjected) return false;
		this.#ejections = 0;
		this.#isProbed = false;
		this.#sinceMs = unixMs;
		return true;
	}

	/** @param ejectAfterFailures null: never. @returns true if this began an ejection. */
	failed(detail: string, ejectAfterFailures: number | null, now: Moment, chance: () => number): boolean {
		this.#isKnown = true;
		this.#detail = detail;
		this.#failures++;
		const isFirst = !this.isEjected;
		// Requests sent before the ejection fail late and give no new information.
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
	return Math.min(firstEjectionMs * 2 ** (ejections - 1), maxEjectionMs) * (0.5 + chance() / 2);
}

interface JoinedReports extends HealthReport {
	/** Number of gateways that report it as unhealthy. */
	readonly ejectedBy: number;
}

/**
 * Joins the reports of several gateways about one provider. Gateways without requests to it have no vote. One of the others is enough for
 * unhealthy, because its requests fail. It is unhealthy since the first of these reports, healthy since the last.
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

/** Joins the rate limits that several gateways report for one account: of each model and kind the latest, sorted by model. */
export function joinRateLimits(reports: readonly HealthReport[]): ProviderRateLimit[] {
	const latest = new Map<string, ProviderRateLimit>();
	for (const limit of reports.flatMap(({ rateLimits = [] }) => rateLimits)) {
		const key = `${limit.kind} ${limit.model}`;
		const known = latest.get(key);
		if (known === undefined || known.reportedAtMs < limit.reportedAtMs) latest.set(key, limit);
	}
	const order = ({ kind }: ProviderRateLimit): number => rateLimitKinds.indexOf(kind);
	return [...latest.values()].toSorted((left, right) =>
		left.model === right.model ? order(left) - order(right) : left.model < right.model ? -1 : 1,
	);
}
