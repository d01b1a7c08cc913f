/** What waits for a provider, made to end when the call does. */
import { discardStream, gather } from '../../../core/byte-stream.ts';
import type { Clock } from '../../../core/clock.ts';
import { Fault } from '../../../core/fault.ts';
import { Refusal } from '../../../core/refusal.ts';
import type { UpstreamResponse } from '../../../core/upstream.ts';
import type { OpenCall } from '../open-calls.ts';

/** For an answer that has just begun: the call may have been ended in this very turn. @throws what it was ended with. */
export function requireWanted(response: UpstreamResponse, open: OpenCall): void {
	if (open.isEnded) discardStream(response.body);
	open.requireRunning();
}

/** Reads an answer whole. @throws Fault `provider_answer_invalid` when it is longer; what the stream, or the call, ended with. */
export function readAnswer(response: UpstreamResponse, open: OpenCall, maxBytes: number): Buffer | Promise<Buffer> {
	const whole = response.body.takeWhole?.();
	if (whole === undefined) return awaitAnswer(response, open, maxBytes);
	if (whole.length > maxBytes) throw tooLong(maxBytes);
	return whole;
}

function awaitAnswer(response: UpstreamResponse, open: OpenCall, maxBytes: number): Promise<Buffer> {
	return new Promise((resolve, reject) => {
		const flow = gather(response.body, maxBytes, resolve, (cause) => reject(cause instanceof Refusal ? tooLong(maxBytes) : cause));
		open.whenEnded((reason) => {
			flow.cancel();
			reject(reason);
		});
	});
}

function tooLong(maxBytes: number): Fault {
	return new Fault('provider_answer_invalid', { message: `The provider's answer is longer than ${maxBytes} bytes` });
}

/** @throws what the call was ended with. */
export function pauseCall(ms: number, open: OpenCall, clock: Clock): Promise<void> {
	return new Promise((resolve, reject) => {
		const timer = clock.after(ms, resolve);
		open.whenEnded((reason) => {
			timer.cancel();
			reject(reason);
		});
	});
}
