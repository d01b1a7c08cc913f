import type { HeaderFields } from '../../core/handler.ts';

/** Reads `retry-after-ms`, or else `retry-after` in seconds or as a date (RFC 9110 section 10.2.3). */
export function readRetryAfterMs(headers: HeaderFields, nowMs: number): number | undefined {
	const { 'retry-after-ms': inMs, 'retry-after': after } = headers;
	if (typeof inMs === 'string' && isNumber(inMs)) return Number(inMs);
	if (typeof after !== 'string') return undefined;
	if (isNumber(after)) return Number(after) * 1000;
	const atMs = Date.parse(after);
	return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}

function isNumber(text: string): boolean {
	return /^\d{1,9}(\.\d+)?$/.test(text.trim());
}
