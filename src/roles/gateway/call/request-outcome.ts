import { Fault } from '../../../core/fault.ts';
import { Refusal } from '../../../core/refusal.ts';

/** How a request ended: what it held is settled and released by this. */
export interface RequestOutcome {
	/**
	 * `completed`: the client gets the whole response. `upstream_error`: the provider responded with an error, or reported one in its
	 * stream. The others ended the request before that.
	 */
	readonly kind: 'completed' | 'upstream_error' | 'client_disconnected' | 'rejected' | 'draining' | 'provider_failed' | 'internal_error';
	/** Of the client's response. */
	readonly status: number;
	/** In the request's log line; undefined: the response reports no error of ours. */
	readonly code: string | undefined;
	/** The gateway or the client ended it before the provider could report its usage. */
	readonly isEarly: boolean;
}

export function completed(status: number): RequestOutcome {
	return { kind: 'completed', status, code: undefined, isEarly: false };
}

export function upstreamError(status: number, code: string | undefined): RequestOutcome {
	return { kind: 'upstream_error', status, code, isEarly: false };
}

/** @param cause anything that was thrown, or that the request was aborted with. */
export function failed(cause: unknown): RequestOutcome {
	if (cause instanceof Fault) return { kind: 'provider_failed', status: cause.status, code: cause.code, isEarly: false };
	if (!(cause instanceof Refusal)) return { kind: 'internal_error', status: 500, code: 'defect', isEarly: false };
	const { status, code } = cause;
	if (code === 'draining') return { kind: 'draining', status, code, isEarly: false };
	return { kind: code === 'client_closed' ? 'client_disconnected' : 'rejected', status, code, isEarly: true };
}
