import { Fault } from '../../../core/fault.ts';
import { Refusal } from '../../../core/refusal.ts';
import type { UpstreamTimeouts } from '../../../core/upstream.ts';
import { ConnectTimeout } from './upstream-connector.ts';

/** Not written yet, written and waiting for a head, or receiving a body. */
export type UpstreamPhase = 'connecting' | 'waiting' | 'answering';

/** Whether a request ended by what this side did: that is no news of the server. */
export function isOurs(cause: unknown): boolean {
	return cause instanceof Refusal || (cause instanceof Fault && !cause.code.startsWith('provider_'));
}

/** What an error of a connection or of the system means. What this side did passes as it is. */
export function faultOf(error: Error, phase: UpstreamPhase): Error {
	if (isOurs(error)) return error;
	if (error instanceof ConnectTimeout) return new Fault('provider_connect_timeout', { cause: error });
	return new Fault(phase === 'answering' ? 'provider_disconnected' : 'provider_unreachable', { cause: error });
}

/** Whose limit passed in this phase. */
export function timeoutFault(phase: UpstreamPhase, isTotal: boolean, timeouts: UpstreamTimeouts): Fault {
	if (isTotal) return new Fault('provider_total_timeout', { message: `The response was not complete within ${timeouts.totalMs} ms` });
	switch (phase) {
		case 'connecting':
			return new Fault('provider_connect_timeout', { message: `No connection to the provider within ${timeouts.connectMs} ms` });
		case 'waiting':
			return new Fault('provider_first_byte_timeout', { message: `The provider sent nothing within ${timeouts.firstByteMs} ms` });
		case 'answering':
			return new Fault('provider_idle_timeout', { message: `The provider fell silent for ${timeouts.idleMs} ms` });
	}
}

/** For a log line: the innermost words, which name the system's error. */
export function causeText(cause: unknown): string {
	let innermost = cause;
	while (innermost instanceof Error && innermost.cause instanceof Error) innermost = innermost.cause;
	if (!(innermost instanceof Error)) return String(innermost);
	const { code } = innermost as NodeJS.ErrnoException;
	return code === undefined || innermost.message.includes(code) ? innermost.message : `${code}: ${innermost.message}`;
}
