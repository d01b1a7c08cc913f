import { periodOf } from '../../policy/limits/utc-time.ts';

export interface Span {
	/** Unix milliseconds, inclusive. */
	readonly fromMs: number;
	/** Exclusive. */
	readonly toMs: number;
}

/** @param period such as `2026-11`. */
export function spanOfMonth(period: string): Span {
	const [year = 0, month = 1] = period.split('-').map(Number);
	return { fromMs: Date.UTC(year, month - 1), toMs: Date.UTC(year, month) };
}

/** Returns the UTC month that contains this moment. */
export function monthOf(nowMs: number): Span {
	return spanOfMonth(periodOf(nowMs));
}

/** Returns the first moment of the UTC month that is this many months earlier. */
export function monthsBefore(nowMs: number, months: number): number {
	const now = new Date(nowMs);
	return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months);
}
