/** Streams events at a provider's pace, with the faults that keep them from arriving. */

import type { Clock, Timer } from '../src/core/clock.ts';
import { type ByteSink, type ByteStream, ConnectionReset } from '../src/core/handler.ts';
import type { BreakOff } from './faults/fault-plan.ts';
import type { WireEvent } from './wires/wire.ts';

export interface Pace {
	readonly firstEventMs: number;
	/** Interval between events; 0 sends one event in each turn of the event loop. */
	readonly intervalMs: number;
	readonly breakOff: BreakOff | undefined;
	/** True if the events continue after the client has disconnected. Default false. */
	readonly outlivesClient?: boolean;
}

export interface StreamWitness {
	/** Runs after an event was completely handed over. */
	onSent(event: WireEvent): void;
	/** Runs once, last, with the outcome of the stream. */
	onOver(outcome: 'complete' | 'aborted' | 'broken'): void;
}

/** Time after which a stalled stream closes its connection. */
export const maxStallMs = 600_000;

export interface PacedStream extends ByteStream {
	/** Called when the client disconnected; the same as the sink's cancel. */
	abort(): void;
	/** Stops the stream for good. */
	stop(): void;
}

const nowhere: ByteSink = { write: () => true, end: () => {}, fail: () => {} };

export function pacedStream(
	events: Iterator<WireEvent>,
	pace: Pace,
	clock: Clock,
	errorEvent: () => string,
	witness: StreamWitness,
): PacedStream {
	let sink: ByteSink | undefined;
	let sent = 0;
	let isOver = false;
	let isWaiting = false;
	let isHalted = false;
	let timer: Timer | undefined;

	const finish = (outcome: 'complete' | 'aborted' | 'broken'): boolean => {
		if (isOver) return false;
		isOver = true;
		timer?.cancel();
		events.return?.();
		witness.onOver(outcome);
		return true;
	};
	const schedule = (delayMs: number, task: () => void): void => {
		isWaiting = true;
		const run = (): void => {
			isWaiting = false;
			if (!isOver) task();
		};
		if (delayMs <= 0) setImmediate(run);
		else timer = clock.after(delayMs, run);
	};
	const destroy = (): void => {
		if (finish('broken')) sink?.fail(new ConnectionReset());
	};
	const endEarly = (): void => {
		if (finish('broken')) sink?.end();
	};

	const breakOff = ({ manner }: BreakOff): void => {
		isHalted = true;
		switch (manner) {
			case 'stall':
				schedule(maxStallMs, destroy);
				return;
			case 'cut':
				schedule(pace.intervalMs, destroy);
				return;
			case 'cut-inside': {
				const next = events.next();
				const bytes = bufferOf(next.done === true ? 'data: ' : next.value.bytes);
				sink?.write(bytes.subarray(0, Math.ceil(bytes.length / 2)));
				schedule(pace.intervalMs, destroy);
				return;
			}
			case 'end':
				endEarly();
				return;
			case 'error-event':
				sink?.write(bufferOf(errorEvent()));
				endEarly();
		}
	};

	const turn = (): void => {
		if (sink === undefined) return;
		if (pace.breakOff !== undefined && sent === pace.breakOff.afterEvents) {
			breakOff(pace.breakOff);
			return;
		}
		const next = events.next();
		if (next.done === true) {
			if (finish('complete')) sink.end();
			return;
		}
		sent += 1;
		witness.onSent(next.value);
		const canContinue = sink.write(bufferOf(next.value.bytes));
		if (next.value.isLast === true) {
			if (finish('complete')) sink.end();
		} else if (canContinue) schedule(pace.intervalMs, turn);
	};

	const leave = (): void => {
		if (pace.outlivesClient !== true) finish('aborted');
		sink = nowhere;
		if (!isOver && !isWaiting && !isHalted) schedule(pace.intervalMs, turn);
	};

	return {
		start(given) {
			sink = given;
			if (!isOver) schedule(pace.firstEventMs, turn);
			return {
				resume() {
					if (!isOver && !isWaiting && !isHalted) schedule(pace.intervalMs, turn);
				},
				cancel: leave,
			};
		},
		abort: leave,
		stop() {
			if (finish('aborted')) sink?.end();
		},
	};
}

function bufferOf(bytes: string | Buffer): Buffer {
	return typeof bytes === 'string' ? Buffer.from(bytes, 'utf8') : bytes;
}
