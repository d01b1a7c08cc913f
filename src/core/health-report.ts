/** Health of a provider, judged by the requests sent to it. There are no separate health checks. */
export interface HealthReport {
	/** `unknown` before the first request. */
	readonly state: 'healthy' | 'unhealthy' | 'unknown';
	/** Unix milliseconds of the last change of state; null if there was none. */
	readonly sinceMs: number | null;
	/** Cause of the last failure, for operators; null if there was none. Contains no secrets. */
	readonly detail: string | null;
	/** Its own rate limits by model, if its responses report them. */
	readonly rateLimits?: readonly ProviderRateLimit[];
}

/** `retry_after`: a 429 demands a wait. */
export const rateLimitKinds = ['requests', 'tokens', 'input_tokens', 'output_tokens', 'retry_after'] as const;

export type RateLimitKind = (typeof rateLimitKinds)[number];

/** Rate limit of the gateway's account at a provider, as the latest response for a model reports it. */
export interface ProviderRateLimit {
	readonly model: string;
	readonly kind: RateLimitKind;
	/** Null if it was not reported. */
	readonly limit: number | null;
	readonly remaining: number;
	/** Unix milliseconds; null if it was not reported. */
	readonly resetsAtMs: number | null;
	/** Unix milliseconds. */
	readonly reportedAtMs: number;
}

/** Provider health as one process sees it, by name. Providers that it has not called yet may be missing. */
export type ProviderReport = Readonly<Record<string, HealthReport>>;
