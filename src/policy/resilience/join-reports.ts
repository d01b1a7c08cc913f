import type { HealthReport } from '../../core/health-report.ts';

export interface JoinedReports extends HealthReport {
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
