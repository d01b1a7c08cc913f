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

/** The UTC month that this moment lies in. */
export function monthOf(nowMs: number): Span {
	return spanOfMonth(periodOf(nowMs));
}

/** The first moment of the UTC month that lies so many months before. */
export function monthsBefore(nowMs: number, months: number): number {
	const now = new Date(nowMs);
	return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months);
}
