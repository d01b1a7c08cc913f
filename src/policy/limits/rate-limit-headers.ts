import type { CounterReading, RateLimit } from '../../core/counters.ts';
import { limitOf } from './rate-limits.ts';
import { msToMidnight, msToNextMinute } from './utc-time.ts';

/** Renders `x-ratelimit-{limit,remaining,reset}-{requests,tokens}` in OpenAI's format, without unlimited values. */
export function rateLimitHeaders(limits: readonly RateLimit[], reading: CounterReading): Record<string, string> {
	const headers: Record<string, string> = {};
	const requestsPerMinute = limitOf(limits, 'rpm');
	const dailyTokens = limitOf(limits, 'daily_tokens');
	if (requestsPerMinute !== null) {
		headers['x-ratelimit-limit-requests'] = String(requestsPerMinute);
		headers['x-ratelimit-remaining-requests'] = String(Math.max(0, requestsPerMinute - reading.requestsThisMinute));
		headers['x-ratelimit-reset-requests'] = formatDuration(msToNextMinute(reading.nowMs));
	}
	if (dailyTokens !== null) {
		headers['x-ratelimit-limit-tokens'] = String(dailyTokens);
		headers['x-ratelimit-remaining-tokens'] = String(Math.max(0, dailyTokens - reading.tokensToday));
		headers['x-ratelimit-reset-tokens'] = formatDuration(msToMidnight(reading.nowMs));
	}
	return headers;
}

/** Formats `150ms`, `12s`, `6m0s`, `8h0m5s`; values of at least a second are rounded up to whole seconds. */
function formatDuration(ms: number): string {
	if (ms < 1000) return `${ms}ms`;
	const seconds = Math.ceil(ms / 1000);
	const minutes = Math.floor(seconds / 60);
	if (minutes === 0) return `${seconds}s`;
	if (minutes < 60) return `${minutes}m${seconds % 60}s`;
	return `${Math.floor(minutes / 60)}h${minutes % 60}m${seconds % 60}s`;
}
