/** What waits for a provider, made to end when the call does. */
import { discardStream, gather } from '../../../core/byte-stream.ts';
import type { Clock } from '../../../core/clock.ts';
import { Fault } from '../../../core/fault.ts';
import { Refusal } from '../../../core/refusal.ts';
import type { UpstreamResponse } from '../../../core/upstream.ts';
import type { CallScope } from '../call/call-scope.ts';

/** For an answer that has just begun: the call may have been ended in this very turn. @throws what it was ended with. */
export function requireWanted(response: UpstreamResponse, scope: CallScope): void {
	if (scope.isAborted) discardStream(response.body);
	scope.requireRunning();
}

/** Reads an answer whole. @throws Fault `provider_answer_invalid` when it is longer; what the stream, or the call, ended with. */
export function readAnswer(response: UpstreamResponse, scope: CallScope, maxBytes: number): Buffer | Promise<Buffer> {
	const whole = response.body.takeWhole?.();
	if (whole === undefined) return awaitAnswer(response, scope, maxBytes);
	if (whole.length > maxBytes) throw tooLong(maxBytes);
	return whole;
}

function awaitAnswer(response: UpstreamResponse, scope: CallScope, maxBytes: number): Promise<Buffer> {
	return scope.wait((resolve, reject) => {
		const flow = gather(response.body, maxBytes, resolve, (cause) => reject(cause instanceof Refusal ? tooLong(maxBytes) : cause));
		return () => flow.cancel();
	});
}

function tooLong(maxBytes: number): Fault {
	return new Fault('provider_answer_invalid', { message: `The provider's answer is longer than ${maxBytes} bytes` });
}

/** @throws what the call was ended with. */
export function pauseCall(ms: number, scope: CallScope, clock: Clock): Promise<void> {
	return scope.wait((resolve) => {
		const timer = clock.after(ms, () => resolve(undefined));
		return () => timer.cancel();
	});
}
