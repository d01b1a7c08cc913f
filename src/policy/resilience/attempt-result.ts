/** Result of one attempt at a provider, and the decisions that depend on it. */

import { Rejection } from '../../core/rejection.ts';
import type { UpstreamError, UpstreamErrorCode } from '../../core/upstream-error.ts';

/** Status of the provider's response, or the error that prevented one. */
export type AttemptResult = number | UpstreamError | Rejection;

/** Failures of the provider before the first byte of its response, or with an invalid one; another provider can succeed. */
const failuresToRetry: ReadonlySet<string> = new Set<UpstreamErrorCode>([
	'provider_unreachable',
	'provider_disconnected',
	'provider_connect_timeout',
	'provider_first_byte_timeout',
	'provider_response_invalid',
]);

/** Statuses that concern the gateway's account at the provider, not the client's request. */
const accountStatuses: ReadonlySet<number> = new Set([401, 403, 404, 429]);

/** Tells whether the next target is tried. Never after the provider began a regular response, which has a status below 400. */
export function canFailOver(result: AttemptResult): boolean {
	return typeof result === 'number' ? isFailedStatus(result) : isFailedCode(result.code);
}

/** Tells the same of a recorded attempt. @param code of the error, if one came instead of a response. */
export function couldFailOver({ status, code }: { readonly status: number | null; readonly code: string | null }): boolean {
	return code === null ? status !== null && isFailedStatus(status) : isFailedCode(code);
}

function isFailedStatus(status: number): boolean {
	return status >= 500 || accountStatuses.has(status);
}

function isFailedCode(code: string): boolean {
	return failuresToRetry.has(code) || code === 'provider_busy' || code === 'provider_key_unset';
}

/** Returns the provider's health by this attempt; undefined if the attempt does not show it. */
export function reportsHealth(result: AttemptResult): 'well' | 'ill' | undefined {
	// A 529 (overload) concerns one model, and a 429 the gateway's request rate: neither shows that the provider is unhealthy.
	if (typeof result === 'number') return result < 500 ? 'well' : result === 529 ? undefined : 'ill';
	// Non-streaming responses have no timeout for their first byte, so a provider that hangs takes the whole time.
	const isUnhealthy = !(result instanceof Rejection) && (failuresToRetry.has(result.code) || result.code === 'provider_total_timeout');
	return isUnhealthy ? 'ill' : undefined;
}
