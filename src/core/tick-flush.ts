/** Runs gathered work at the end of a tick of the event loop. */

/** Work to do before the output of this tick is sent. */
export interface TickListener {
	/** May throw: the other listeners and sockets still run. */
	onTickFlush(): void;
}

/** A sink that buffers its output until uncorked. */
export interface Corked {
	uncork(): void;
}

export type ReportInternalError = (internalError: unknown) => void;

let listeners: TickListener[] = [];
let corked: Corked[] = [];
let isAwaited = false;

/** Without a receiver, an internal error surfaces as an uncaught exception. */
const throwLater: ReportInternalError = (internalError) => {
	queueMicrotask(() => {
		throw internalError;
	});
};

let reportInternalError = throwLater;

/** Sets the process-wide receiver of errors that listeners throw. @returns a function that removes it. */
export function reportTickErrors(receiver: ReportInternalError): () => void {
	reportInternalError = receiver;
	return () => {
		if (reportInternalError === receiver) reportInternalError = throwLater;
	};
}

/** Notifies the listener once, in the order of the calls. */
export function flushOnTick(listener: TickListener): void {
	listeners.push(listener);
	scheduleFlush();
}

/** Uncorks after all listeners have run, in the order of the calls. */
export function uncorkOnTickFlush(one: Corked): void {
	corked.push(one);
	scheduleFlush();
}

function scheduleFlush(): void {
	if (isAwaited) return;
	isAwaited = true;
	setImmediate(flushTick);
}

function flushTick(): void {
	const [notifiedListeners, released] = [listeners, corked];
	listeners = [];
	corked = [];
	isAwaited = false;
	for (const listener of notifiedListeners) {
		try {
			listener.onTickFlush();
		} catch (internalError) {
			report(internalError);
		}
	}
	// A socket that stays corked would never send again.
	for (const one of released) {
		try {
			one.uncork();
		} catch (internalError) {
			report(internalError);
		}
	}
}

function report(internalError: unknown): void {
	try {
		reportInternalError(internalError);
	} catch (second) {
		throwLater(second);
	}
}
