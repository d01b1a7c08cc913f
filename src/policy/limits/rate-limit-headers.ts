import type { CounterReading, RateLimit } from '../../core/counters.ts';
import { limitOf } from './rate-limits.ts';
import { msToMidnight, msToNextMinute, secondOf } from './utc-time.ts';

/** Adds `x-ratelimit-{limit,remaining,reset}-{requests,tokens}` in OpenAI's format, without unlimited values. */
export function addRateLimitHeaders(headers: Record<string, string>, limits: readonly RateLimit[], reading: CounterReading): void {
	const requestsPerMinute = limitOf(limits, 'rpm');
	const dailyTokens = limitOf(limits, 'daily_tokens');
	if (requestsPerMinute !== null) {
		headers['x-ratelimit-limit-requests'] = String(requestsPerMinute);
		headers['x-ratelimit-remaining-requests'] = remainingOf(requestsPerMinute, reading.requestsThisMinute);
		headers['x-ratelimit-reset-requests'] = formatDuration(msToNextMinute(reading.nowMs));
	}
	if (dailyTokens !== null) {
		headers['x-ratelimit-limit-tokens'] = String(dailyTokens);
		headers['x-ratelimit-remaining-tokens'] = remainingOf(dailyTokens, reading.tokensToday);
		headers['x-ratelimit-reset-tokens'] = formatDuration(msToMidnight(reading.nowMs));
	}
}

/** Adds `anthropic-ratelimit-{requests,tokens}-{limit,remaining,reset}` in Anthropic's format, without unlimited values. */
export function addAnthropicRateLimitHeaders(headers: Record<string, string>, limits: readonly RateLimit[], reading: CounterReading): void {
	const requestsPerMinute = limitOf(limits, 'rpm');
	const dailyTokens = limitOf(limits, 'daily_tokens');
	if (requestsPerMinute !== null) {
		headers['anthropic-ratelimit-requests-limit'] = String(requestsPerMinute);
		headers['anthropic-ratelimit-requests-remaining'] = remainingOf(requestsPerMinute, reading.requestsThisMinute);
		headers['anthropic-ratelimit-requests-reset'] = minuteEnd.format(reading.nowMs + msToNextMinute(reading.nowMs));
	}
	if (dailyTokens !== null) {
		headers['anthropic-ratelimit-tokens-limit'] = String(dailyTokens);
		headers['anthropic-ratelimit-tokens-remaining'] = remainingOf(dailyTokens, reading.tokensToday);
		headers['anthropic-ratelimit-tokens-reset'] = midnight.format(reading.nowMs + msToMidnight(reading.nowMs));
	}
}

function remainingOf(limit: number, used: number): string {
	return String(Math.max(0, limit - used));
}

/** Caches a text, because the requests of a minute have the same reset times. */
class LastTime {
	#ms = Number.NaN;
	#text = '';

	format(ms: number): string {
		if (ms !== this.#ms) {
			this.#text = secondOf(ms);
			this.#ms = ms;
		}
		return this.#text;
	}
}

const minuteEnd = new LastTime();
const midnight = new LastTime();

/** Formats `150ms`, `12s`, `6m0s`, `8h0m5s`; values of at least a second are rounded up to whole seconds. */
function formatDuration(ms: number): string {
	if (ms < 1000) return `${ms}ms`;
	const seconds = Math.ceil(ms / 1000);
	const minutes = Math.floor(seconds / 60);
	if (minutes === 0) return `${seconds}s`;
	if (minutes < 60) return `${minutes}m${seconds % 60}s`;
	return `${Math.floor(minutes / 60)}h${minutes % 60}m${seconds % 60}s`;
}
