/** Where a provider stands, judged by the calls that go to it: nothing is asked of it for that alone. */
export interface HealthReport {
	/** Unknown before its first call. */
	readonly state: 'healthy' | 'unhealthy' | 'unknown';
	/** Unix milliseconds of the last change of state; null when there was none. */
	readonly sinceMs: number | null;
	/** Of the last failure, for operators; null when there was none. Nothing secret. */
	readonly detail: string | null;
}

/** What one process that serves calls knows of its providers, by name. Those it has not called yet may be missing. */
export type ProviderReport = Readonly<Record<string, HealthReport>>;
