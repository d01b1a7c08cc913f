/** Health of a provider, judged by the requests sent to it. There are no separate health checks. */
export interface HealthReport {
	/** `unknown` before the first request. */
	readonly state: 'healthy' | 'unhealthy' | 'unknown';
	/** Unix milliseconds of the last change of state; null if there was none. */
	readonly sinceMs: number | null;
	/** Cause of the last failure, for operators; null if there was none. Contains no secrets. */
	readonly detail: string | null;
}

/** Provider health as one process sees it, by name. Providers that it has not called yet may be missing. */
export type ProviderReport = Readonly<Record<string, HealthReport>>;
