import type { TimeoutSettings, UpstreamTimeouts } from '../../core/upstream.ts';
import { UpstreamError } from '../../core/upstream-error.ts';
import type { RequestScope } from './request-scope/request-scope.ts';

/** Timeouts of requests to providers, in milliseconds. */
export interface ProviderTimeouts {
	readonly connectMs: number;
	/** Time from sending the request to the first byte of a stream or of a computed response. */
	readonly firstByteMs: number;
	/** Time between two chunks of a response. */
	readonly idleMs: number;
	/** Time from the first attempt to the end of a non-streaming response, or to the start of a stream. */
	readonly totalMs: number;
	/** Time from the first attempt to the end of a stream. */
	readonly streamTotalMs: number;
}

/** Timeouts of one attempt, by the kind of response. Each keeps the `totalMs` in which its response has to begin. */
export interface AttemptTimeouts {
	readonly streaming: AttemptLimits;
	readonly nonStreaming: AttemptLimits;
	/** Timeouts of a response that no model generates, see `Endpoint.response`. */
	readonly computed: AttemptLimits;
}

type FullTimeouts = UpstreamTimeouts & { readonly settings: TimeoutSettings };

export interface AttemptLimits {
	/** Timeouts of an attempt that has the full time. */
	readonly full: FullTimeouts;
	/** Time from the first attempt to the first byte of a response, over all attempts. */
	readonly beginMs: number;
}

const totalSetting = 'gateway.timeouts.total_ms';
const settingNames: TimeoutSettings = {
	connect: 'gateway.timeouts.connect_ms',
	firstByte: 'gateway.timeouts.first_byte_ms',
	idle: 'gateway.timeouts.idle_ms',
	total: totalSetting,
};

/** Derives the timeouts. Providers send the head of a non-streaming response once it is generated, so only `totalMs` bounds the wait for it. */
export function attemptTimeouts({ connectMs, firstByteMs, idleMs, totalMs, streamTotalMs }: ProviderTimeouts): AttemptTimeouts {
	const noLimit = Number.POSITIVE_INFINITY;
	// No other timeout limits the start of a stream, because its `totalMs` covers the whole stream.
	const startMs = Math.min(firstByteMs, totalMs);
	const settings = settingNames;
	const ofStream = {
		...settings,
		...(startMs < firstByteMs && { firstByte: totalSetting }),
		total: 'gateway.timeouts.stream_total_ms',
	};
	return {
		streaming: { full: { connectMs, firstByteMs: startMs, idleMs, totalMs: streamTotalMs, settings: ofStream }, beginMs: totalMs },
		nonStreaming: {
			full: {
				connectMs,
				firstByteMs: noLimit,
				bodyStartMs: noLimit,
				idleMs,
				totalMs,
				settings: { ...settings, firstByte: totalSetting },
			},
			beginMs: totalMs,
		},
		computed: { full: { connectMs, firstByteMs, idleMs, totalMs, settings }, beginMs: totalMs },
	};
}

/**
 * Returns the remaining timeouts; all attempts of a request share its time.
 * @param cameMs time at which the attempt began to wait for a slot, by the monotonic clock.
 * @param nowMs time at which it got one.
 */
export function remainingTimeouts(
	{ full, beginMs }: AttemptLimits,
	scope: RequestScope,
	cameMs: number,
	nowMs: number,
): UpstreamTimeouts | UpstreamError {
	scope.firstAttemptMs ??= cameMs;
	const passedMs = nowMs - scope.firstAttemptMs;
	const remainingMs = beginMs - passedMs;
	if (remainingMs <= 0) return new UpstreamError('provider_total_timeout');
	// The wait for a slot is part of the time to the first byte.
	const firstByteMs = full.firstByteMs - (nowMs - cameMs);
	return {
		...full,
		connectMs: Math.min(full.connectMs, remainingMs),
		firstByteMs: Math.max(1, Math.min(firstByteMs, remainingMs)),
		totalMs: full.totalMs - passedMs,
		settings: settingsThatBind(full, firstByteMs, remainingMs),
	};
}

function settingsThatBind({ connectMs, settings }: FullTimeouts, firstByteMs: number, remainingMs: number): TimeoutSettings {
	if (remainingMs >= connectMs && (remainingMs >= firstByteMs || settings.firstByte === totalSetting)) return settings;
	return {
		...settings,
		...(remainingMs < connectMs && { connect: totalSetting }),
		...(remainingMs < firstByteMs && { firstByte: totalSetting }),
	};
}
