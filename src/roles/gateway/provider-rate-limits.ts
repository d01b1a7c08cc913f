import { BoundedMap } from '../../core/bounded-map.ts';
import type { Clock } from '../../core/clock.ts';
import type { HeaderFields, HttpResponse } from '../../core/handler.ts';
import type { ProviderRateLimit } from '../../core/health-report.ts';
import type { RateLimitFields } from '../../wire/providers/protocol.ts';
import { readRetryAfterMs } from './read-retry-after.ts';

/** Limits of a provider for one model. The fields of its latest response stay as they are, because most of them are never parsed. */
interface ModelRateLimits {
	/** Time by the monotonic clock at which the reporting request was sent. */
	sentMs: number;
	reportedAtMs: number;
	fields: readonly RateLimitFields[];
	headers: HeaderFields;
	/** Wait that a 429 demands; 0 for none. */
	waitMs: number;
	/** Time by the monotonic clock. */
	exhaustedUntilMs: number;
}

/** Clients choose model names. */
const maxModels = 64;
const maxModelLength = 256;

/** Resets further ahead are implausible. */
const maxResetMs = 86_400_000;

/** Time after which a request tries an exhausted model again, whatever its reset: the limit may have been raised. */
const maxExhaustedMs = 600_000;

/** Time without requests for a limit that is exhausted without a reset. */
const unknownResetMs = 5000;

/** Age at which a report is no longer shown. */
const maxAgeMs = 3_600_000;

/** Rate limits that a provider reports for its account, by model. */
export class ProviderRateLimits {
	readonly #ofModels = new BoundedMap<string, ModelRateLimits>(maxModels);

	/**
	 * Reads the fields of a response. Texts that are no valid limit are ignored.
	 * @param fields names of the vendor's fields.
	 * @param sentMs time by the monotonic clock at which the request was sent. Responses to earlier requests than the latest are outdated.
	 */
	note(model: string, fields: readonly RateLimitFields[], { status, headers }: HttpResponse, sentMs: number, clock: Clock): void {
		if (status >= 400 && status !== 429) return;
		const waitMs = status === 429 ? waitOf(headers, clock) : 0;
		if (waitMs === 0 && !fields.some(({ remaining }) => headers[remaining] !== undefined)) return;
		const known = this.#ofModels.get(model);
		if (known !== undefined && known.sentMs > sentMs) return;
		const nowMs = clock.nowMs();
		const exhaustedMs = waitMs === 0 ? exhaustedFor(fields, headers, nowMs) : waitMs;
		const exhaustedUntilMs = exhaustedMs === 0 ? 0 : clock.monotonicMs() + Math.min(exhaustedMs, maxExhaustedMs);
		if (known !== undefined) {
			known.sentMs = sentMs;
			known.reportedAtMs = nowMs;
			known.fields = fields;
			known.headers = headers;
			known.waitMs = waitMs;
			known.exhaustedUntilMs = exhaustedUntilMs;
		} else if (model.length <= maxModelLength) {
			this.#ofModels.set(model, { sentMs, reportedAtMs: nowMs, fields, headers, waitMs, exhaustedUntilMs });
		}
	}

	/** Returns true while requests for the model would probably get a 429. */
	isExhausted(model: string, monotonicMs: number): boolean {
		const known = this.#ofModels.get(model);
		return known !== undefined && known.exhaustedUntilMs > monotonicMs;
	}

	/** Counts the exhausted models. */
	countExhausted(monotonicMs: number): number {
		return [...this.#ofModels.entries()].filter(([, { exhaustedUntilMs }]) => exhaustedUntilMs > monotonicMs).length;
	}

	/** Lists the limits of recent responses. */
	report(nowMs: number): ProviderRateLimit[] {
		return [...this.#ofModels.entries()].flatMap(([model, known]) => (nowMs - known.reportedAtMs > maxAgeMs ? [] : limitsIn(model, known)));
	}
}

function waitOf(headers: HeaderFields, clock: Clock): number {
	const waitMs = readRetryAfterMs(headers, clock.nowMs()) ?? 0;
	return waitMs > maxResetMs ? 0 : waitMs;
}

/** Returns the time until all nearly exhausted limits reset; 0 if none is. */
function exhaustedFor(fields: readonly RateLimitFields[], headers: HeaderFields, nowMs: number): number {
	let maxMs = 0;
	for (const field of fields) {
		const remaining = headers[field.remaining];
		if (remaining === undefined || !isNearZero(remaining, headers[field.limit])) continue;
		const reset = headers[field.reset];
		const resetMs = reset === undefined ? unknownResetMs : readResetMs(reset, nowMs);
		if (resetMs !== undefined && resetMs > maxMs) maxMs = resetMs;
	}
	return maxMs;
}

/** Returns true if at most a hundredth of the limit remains, or nothing. */
function isNearZero(remaining: string | readonly string[], limit: string | readonly string[] | undefined): boolean {
	if (remaining === '0') return true;
	// A number with at most one digit less is more than a hundredth, which is the usual case.
	if (limit === undefined || remaining.length + 1 >= limit.length) return false;
	const left = readCount(remaining);
	const most = readCount(limit);
	return left !== undefined && most !== undefined && left * 100 <= most;
}

function readCount(text: string | readonly string[] | undefined): number | undefined {
	return typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

const duration = /^(?:(\d{1,4})h)?(?:(\d{1,5})m)?(?:(\d{1,6}(?:\.\d{1,9})?)s)?(?:(\d{1,9}(?:\.\d{1,9})?)ms)?$/;

/** Reads a duration such as `6m0s` or `150ms`, seconds, or a time by RFC 3339. Undefined for other texts and implausible times. */
function readResetMs(text: string | readonly string[], nowMs: number): number | undefined {
	if (typeof text !== 'string' || text === '' || text.length > 40) return undefined;
	const ms = durationOf(text) ?? (/^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) - nowMs : Number.NaN);
	return ms <= maxResetMs ? Math.max(0, ms) : undefined;
}

function durationOf(text: string): number | undefined {
	if (/^\d{1,9}(?:\.\d{1,9})?$/.test(text)) return Number(text) * 1000;
	const parts = duration.exec(text);
	if (parts === null) return undefined;
	const [, hours = 0, minutes = 0, seconds = 0, milliseconds = 0] = parts;
	return Number(hours) * 3_600_000 + Number(minutes) * 60_000 + Number(seconds) * 1000 + Number(milliseconds);
}

function limitsIn(model: string, { fields, headers, reportedAtMs, waitMs }: ModelRateLimits): ProviderRateLimit[] {
	const limits = fields.flatMap(({ kind, limit, remaining, reset }) => {
		const left = readCount(headers[remaining]);
		if (left === undefined) return [];
		const resetMs = readResetMs(headers[reset] ?? '', reportedAtMs);
		const resetsAtMs = resetMs === undefined ? null : reportedAtMs + resetMs;
		return [{ model, kind, limit: readCount(headers[limit]) ?? null, remaining: left, resetsAtMs, reportedAtMs }];
	});
	if (waitMs === 0) return limits;
	return [...limits, { model, kind: 'retry_after', limit: null, remaining: 0, resetsAtMs: reportedAtMs + waitMs, reportedAtMs }];
}
