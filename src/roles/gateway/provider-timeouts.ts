import { Fault } from '../../core/fault.ts';
import type { TimeoutSettings, UpstreamTimeouts } from '../../core/upstream.ts';
import type { CallScope } from './call/call-scope.ts';

/** Time limits of requests to providers, in milliseconds. */
export interface ProviderTimeouts {
	readonly connectMs: number;
	/** From the request being sent to the first byte of a stream or of a computed response. */
	readonly firstByteMs: number;
	/** Between two pieces of a response. */
	readonly idleMs: number;
	/** From the first attempt to the end of a non-streaming response, or to the start of a stream. */
	readonly totalMs: number;
	/** From the first attempt to the end of a stream. */
	readonly streamTotalMs: number;
}

/** Of one attempt, by what it asks for. Each keeps the `totalMs` in which its response has to begin. */
export interface AttemptTimeouts {
	readonly streaming: AttemptLimits;
	readonly nonStreaming: AttemptLimits;
	/** No model generates the response, see `Endpoint.response`. */
	readonly computed: AttemptLimits;
}

type FullTimeouts = UpstreamTimeouts & { readonly settings: TimeoutSettings };

export interface AttemptLimits {
	/** Of an attempt that has all the time. */
	readonly full: FullTimeouts;
	/** From the first attempt to the first byte of a response, over all attempts. */
	readonly beginMs: number;
}

const totalSetting = 'gateway.timeouts.total_ms';
const settingNames: TimeoutSettings = {
	connect: 'gateway.timeouts.connect_ms',
	firstByte: 'gateway.timeouts.first_byte_ms',
	idle: 'gateway.timeouts.idle_ms',
	total: totalSetting,
};

/** Providers send the head of a non-streaming response when all of it is generated, so that only `totalMs` bounds the wait for it. */
export function attemptTimeouts({ connectMs, firstByteMs, idleMs, totalMs, streamTotalMs }: ProviderTimeouts): AttemptTimeouts {
	const noLimit = Number.POSITIVE_INFINITY;
	// Nothing else bounds the start of a stream, whose `totalMs` is that of all of it.
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
 * All attempts of a request share its time.
 * @param cameMs when the attempt began to wait for a slot, by the monotonic clock.
 * @param nowMs when it has one.
 */
export function timeoutsLeft({ full, beginMs }: AttemptLimits, scope: CallScope, cameMs: number, nowMs: number): UpstreamTimeouts | Fault {
	scope.firstAttemptMs ??= cameMs;
	const passedMs = nowMs - scope.firstAttemptMs;
	const leftMs = beginMs - passedMs;
	if (leftMs <= 0) return new Fault('provider_total_timeout');
	// The wait for a slot is part of the time to the first byte.
	const firstByteMs = full.firstByteMs - (nowMs - cameMs);
	return {
		...full,
		connectMs: Math.min(full.connectMs, leftMs),
		firstByteMs: Math.max(1, Math.min(firstByteMs, leftMs)),
		totalMs: full.totalMs - passedMs,
		settings: settingsThatBind(full, firstByteMs, leftMs),
	};
}

function settingsThatBind({ connectMs, settings }: FullTimeouts, firstByteMs: number, leftMs: number): TimeoutSettings {
	if (leftMs >= connectMs && (leftMs >= firstByteMs || settings.firstByte === totalSetting)) return settings;
	return {
		...settings,
		...(leftMs < connectMs && { connect: totalSetting }),
		...(leftMs < firstByteMs && { firstByte: totalSetting }),
	};
}
