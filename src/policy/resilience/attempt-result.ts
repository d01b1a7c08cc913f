/** What became of one attempt at a provider, in the terms that decide what follows. */
import type { Fault, FaultCode } from '../../core/fault.ts';
import { Refusal } from '../../core/refusal.ts';

/** The provider's status, when it answered; else what went wrong before it did. */
export type AttemptResult = number | Fault | Refusal;

/** The provider itself failed before a byte of its answer, or what it began is none: another one may do better. */
const failuresToAnswer: ReadonlySet<FaultCode> = new Set<FaultCode>([
	'provider_unreachable',
	'provider_disconnected',
	'provider_connect_timeout',
	'provider_first_byte_timeout',
	'provider_response_invalid',
]);

/** Answers that are about our account there, not about the caller's request. */
const accountStatuses: ReadonlySet<number> = new Set([401, 403, 404, 429]);

/** Whether the next target is tried. Never once the provider has begun an answer of the kind asked for: that is a status below 400. */
export function mayFallBack(result: AttemptResult): boolean {
	if (typeof result === 'number') return result >= 500 || accountStatuses.has(result);
	if (result instanceof Refusal) return result.code === 'provider_busy';
	return failuresToAnswer.has(result.code) || result.code === 'provider_key_unset';
}

/** What an attempt tells of the provider's health; undefined: nothing. */
export function tellsHealth(result: AttemptResult): 'well' | 'ill' | undefined {
	// Overload is of one model, and haste is ours: neither says that the provider is away.
	if (typeof result === 'number') return result < 500 ? 'well' : result === 529 ? undefined : 'ill';
	// Non-streaming responses have no limit for their first byte: a provider that hangs takes the whole time.
	const isIll = !(result instanceof Refusal) && (failuresToAnswer.has(result.code) || result.code === 'provider_total_timeout');
	return isIll ? 'ill' : undefined;
}
