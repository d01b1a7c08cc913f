/** One request to another server: undici's callbacks pushed straight into a `ByteSink`, with a time limit for each phase. */
import { Readable } from 'node:stream';
import type { Dispatcher, Pool } from 'undici';
import { isByteStream } from '../core/byte-stream.ts';
import type { Clock } from '../core/clock.ts';
import { Fault } from '../core/fault.ts';
import type { ByteFlow, ByteSink, ByteStream, HeaderFields } from '../core/handler.ts';
import type { Log } from '../core/log.ts';
import { Refusal } from '../core/refusal.ts';
import type { UpstreamRequest, UpstreamResponse } from '../core/upstream.ts';
import type { DeadlineSweep, Watched } from './deadline-sweep.ts';
import { SafeSink } from './safe-sink.ts';
import { causeText, faultOf, timeoutFault, type UpstreamPhase } from './upstream-faults.ts';
import { endToEndFields } from './upstream-head.ts';

export interface UpstreamCallParts {
	readonly clock: Clock;
	readonly log: Log;
	readonly deadlines: DeadlineSweep;
}

/** How many calls to one origin have no connection yet. */
export interface Demand {
	waiting: number;
}

/** So much of a body is kept while nobody has started it. */
const maxHeldBytes = 65_536;

export class UpstreamCall implements Dispatcher.DispatchHandler, Watched, ByteStream {
	dueMs: number;
	sweepIndex = -1;
	private readonly parts: UpstreamCallParts;
	private readonly request: UpstreamRequest;
	private readonly resolve: (response: UpstreamResponse) => void;
	private readonly reject: (cause: unknown) => void;
	private readonly totalDueMs: number;
	private phase: UpstreamPhase = 'connecting';
	private isOver = false;
	private controller: Dispatcher.DispatchController | undefined;
	/** Counts this call while it waits for a connection. */
	private demand: Demand | undefined;
	private sink: SafeSink | undefined;
	/** Pieces that arrived before the sink could take them; undefined once it takes each as it comes. */
	private held: Buffer[] | undefined = [];
	private heldBytes = 0;
	private failure: unknown;
	private isCancelled = false;

	constructor(
		parts: UpstreamCallParts,
		request: UpstreamRequest,
		resolve: (response: UpstreamResponse) => void,
		reject: (cause: unknown) => void,
	) {
		this.parts = parts;
		this.request = request;
		this.resolve = resolve;
		this.reject = reject;
		const startMs = parts.clock.monotonicMs();
		this.totalDueMs = startMs + request.timeouts.totalMs;
		this.dueMs = Math.min(startMs + request.timeouts.connectMs, this.totalDueMs);
	}

	dispatch(pool: Pool, demand: Demand): void {
		const { request } = this;
		this.parts.deadlines.watch(this);
		request.onClientGone(() => this.onClientGone());
		if (this.isOver) return;
		this.demand = demand;
		demand.waiting++;
		const body = isByteStream(request.body) ? readableOf(request.body, () => this.expectFirstByte()) : request.body;
		pool.dispatch({ path: request.target, method: request.method, headers: request.headers, body }, this);
	}

	// As undici's handler.

	onRequestStart(controller: Dispatcher.DispatchController): void {
		this.stopWaiting();
		// Thrown, not aborted: the connection that has just been made stays good for another request.
		if (this.isOver) throw new Error('Nobody waits for this answer any more');
		this.controller = controller;
		this.request.onSent?.();
		this.phase = 'waiting';
		this.dueMs = this.totalDueMs;
		if (!isByteStream(this.request.body)) this.expectFirstByte();
	}

	onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: HeaderFields): void {
		if (status < 200 || this.isOver) return;
		this.phase = 'answering';
		this.expectNextByte();
		this.resolve({ status, headers: endToEndFields(headers), body: this });
	}

	onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
		if (this.isOver) return;
		this.expectNextByte();
		if (this.held !== undefined || this.sink === undefined) {
			this.held?.push(chunk);
			this.heldBytes += chunk.length;
			if (this.heldBytes >= maxHeldBytes) this.pause(controller);
		} else if (!this.sink.write(chunk)) {
			this.pause(controller);
		}
	}

	onResponseEnd(): void {
		if (this.isOver) return;
		this.leave();
		if (this.held === undefined) this.sink?.end();
	}

	onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
		this.fail(faultOf(error, this.phase));
	}

	// As a stream.

	start(reader: ByteSink): ByteFlow {
		if (this.sink !== undefined) throw new Error('The body of an answer can be started only once');
		this.sink = new SafeSink(reader, () => this.cancel());
		queueMicrotask(() => this.deliverHeld());
		return {
			// Later, because the parser cannot be resumed from within another parser's callback.
			resume: () => queueMicrotask(() => this.resume()),
			cancel: () => this.cancel(),
		};
	}

	// As a deadline.

	onDue(): void {
		const { phase, totalDueMs, dueMs } = this;
		this.fail(timeoutFault(phase, dueMs >= totalDueMs, this.request.timeouts));
	}

	private onClientGone(): void {
		if (this.phase !== 'answering') this.fail(new Refusal('client_closed'));
	}

	private expectFirstByte(): void {
		if (this.isOver || this.phase !== 'waiting') return;
		this.dueMs = Math.min(this.parts.clock.monotonicMs() + this.request.timeouts.firstByteMs, this.totalDueMs);
	}

	private expectNextByte(): void {
		this.dueMs = Math.min(this.parts.clock.monotonicMs() + this.request.timeouts.idleMs, this.totalDueMs);
	}

	private pause(controller: Dispatcher.DispatchController): void {
		if (this.isOver) return;
		controller.pause();
		// We do not listen: silence is ours, not the provider's.
		this.dueMs = this.totalDueMs;
	}

	private resume(): void {
		if (this.held !== undefined) {
			this.deliverHeld();
		} else if (!this.isOver && this.controller?.paused === true) {
			this.expectNextByte();
			this.controller.resume();
		}
	}

	/** Gives the sink what came before it started, at its pace unless nothing more will come. */
	private deliverHeld(): void {
		const { sink, held } = this;
		if (sink === undefined || held === undefined || this.isCancelled) return;
		for (let chunk = held.shift(); chunk !== undefined; chunk = held.shift()) {
			const isFlowing = sink.write(chunk);
			if (this.isCancelled || (!isFlowing && this.failure === undefined)) return;
		}
		this.held = undefined;
		if (this.failure !== undefined) sink.fail(this.failure);
		else if (this.isOver) sink.end();
		else this.resume();
	}

	private cancel(): void {
		this.isCancelled = true;
		this.held = undefined;
		if (this.isOver) return;
		this.leave();
		this.controller?.abort(new Error('The reader of this answer wants no more'));
	}

	private fail(cause: unknown): void {
		if (this.isOver) return;
		const { phase, controller, sink } = this;
		this.leave();
		controller?.abort(new Error('The request has failed', { cause }));
		if (!(cause instanceof Refusal) && this.request.isExpectedToFail !== true) this.log(cause);
		if (phase !== 'answering') {
			this.reject(cause);
		} else if (this.held === undefined) {
			sink?.fail(cause);
		} else {
			this.failure = cause;
			this.deliverHeld();
		}
	}

	private leave(): void {
		this.isOver = true;
		this.stopWaiting();
		this.parts.deadlines.unwatch(this);
	}

	private stopWaiting(): void {
		if (this.demand === undefined) return;
		this.demand.waiting--;
		this.demand = undefined;
	}

	private log(cause: unknown): void {
		const code = cause instanceof Fault ? cause.code : 'defect';
		this.parts.log.warn('upstream failed', { origin: this.request.origin, code, phase: this.phase, reason: causeText(cause) });
	}
}

/** undici takes request bodies that come in pieces as a `Readable` only. */
function readableOf(source: ByteStream, onEnd: () => void): Readable {
	let flow: ByteFlow | undefined;
	const readable: Readable = new Readable({
		read() {
			if (flow !== undefined) {
				flow.resume();
				return;
			}
			flow = source.start({
				write: (chunk) => readable.push(chunk),
				end: () => {
					readable.push(null);
					onEnd();
				},
				fail: (cause) => readable.destroy(cause instanceof Error ? cause : new Error('The request body failed', { cause })),
			});
		},
		destroy(error, done) {
			flow?.cancel();
			done(error);
		},
	});
	return readable;
}
