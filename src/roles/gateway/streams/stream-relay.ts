import { discardStream } from '../../../core/byte-stream.ts';
import type { Clock, Timer } from '../../../core/clock.ts';
import { Fault } from '../../../core/fault.ts';
import type { ByteFlow, ByteSink, ByteStream } from '../../../core/handler.ts';
import type { Log } from '../../../core/log.ts';
import { Refusal } from '../../../core/refusal.ts';
import type { StreamTranslation } from '../../../wire/conversation/translation.ts';
import type { CapEnding, ClientDialect, Dialect } from '../../../wire/dialects/dialect.ts';
import { EventBatch, noEvents } from '../../../wire/events/event-batch.ts';
import { EventFramer } from '../../../wire/events/event-framer.ts';
import { RecentBytes } from '../../../wire/events/recent-bytes.ts';
import { StreamEvent } from '../../../wire/events/stream-event.ts';
import { scrubSecrets } from '../../../wire/providers/scrub-secrets.ts';
import type { UsageMeter } from '../../../wire/usage/usage-meter.ts';
import type { BilledPermit } from '../call/billed-permit.ts';
import { type AbortReason, type CallScope, completed, failed, type Held, type RequestOutcome } from '../call/call-scope.ts';
import { describeFailure, reportFailure } from '../failure.ts';
import type { PreparedCall } from '../stages/prepare-call.ts';
import { StreamStopped } from '../stream-reservation.ts';
import { type EventSink, type EventSource, errorEvent, heartbeatEvent } from './event-source.ts';

export interface RelayParts {
	readonly clock: Clock;
	readonly log: Log;
	readonly heartbeatMs: number;
	readonly requestId: string;
	/** How a stream ends that its budget does not allow more of. */
	readonly stoppedStream: 'error' | 'length';
}

/** A longer event is relayed as it comes; from then on nothing can be put between events any more. */
const maxHeldBytes = 4 * 1024 * 1024;

const emptySink: EventSink = { write: () => false, writeOpaque: () => false, end: () => undefined, fail: () => undefined };

/** A stream whose client has left is read on so long for what it cost, where that is all that is missing. */
const usageWaitMs = 500;

/** Enough for the last events of a stream: what tells why it ended, and usage. */
const tailBytes = 8192;

/**
 * Passes a provider's event stream on byte for byte. Whole events leave as soon as they are there; the beginning
 * of one waits for its end, so that whatever goes wrong the client never sees half an event, and ends with an
 * error event of its own format. Its end is that of the request. One object is the stream, the sink and the flow, for there is one per call.
 */
export class StreamRelay implements EventSource, ByteSink, ByteFlow, Held {
	readonly #source: ByteStream;
	readonly #format: ClientDialect;
	readonly #providerFormat: Dialect;
	readonly #translation: StreamTranslation | undefined;
	/** What no error of the provider may show. */
	readonly #secrets: readonly string[];
	readonly #permit: BilledPermit;
	readonly #meter: UsageMeter;
	readonly #scope: CallScope;
	readonly #parts: RelayParts;
	/** Where a stopped stream ends in order. */
	readonly #capEnding: CapEnding | undefined;
	/** Undefined while framing is unknown: a compressed stream, or an event too long to hold. */
	#framer: EventFramer | undefined;
	#sink: EventSink = emptySink;
	#flow: ByteFlow | undefined;
	readonly #tail = new RecentBytes(tailBytes);
	/** What the last event lacked, once it was passed on without: an error event needs it. */
	#missingEnd: Buffer | undefined;
	#timer: Timer | undefined;
	#isSilent = true;
	#mayWrite = true;
	#isDone = false;
	/** The client has left, and usage is waited for. */
	#isLeft = false;
	#isUntranslatable = false;
	/** Why it ended before anybody began to read it. */
	#unread: AbortReason | undefined;

	/** @param isOpaque the bytes are compressed: nothing can be read from them or put between them. */
	constructor(source: ByteStream, call: PreparedCall, permit: BilledPermit, scope: CallScope, parts: RelayParts, isOpaque: boolean) {
		this.#source = source;
		const { format, providerFormat, translated } = call;
		this.#format = format;
		this.#providerFormat = providerFormat;
		this.#secrets = call.provider.secrets;
		this.#permit = permit;
		const meter = permit.createMeter();
		this.#meter = meter;
		this.#translation = translated?.translation.translateStream({ ...translated.call, charged: () => permit.charged(meter.read()) });
		this.#scope = scope;
		this.#parts = parts;
		this.#capEnding = parts.stoppedStream === 'length' && permit.isStoppable ? format.followToCap(call.body.members) : undefined;
		this.#framer = isOpaque ? undefined : new EventFramer(providerFormat.markLine);
		scope.hold(this);
	}

	/** Of the request. Before anybody reads the stream, nobody else would end it. */
	abort(reason: AbortReason): void {
		if (this.#flow === undefined) {
			this.#unread = reason;
			this.#scope.end(failed(reason));
		} else if (reason.code === 'client_closed') this.cancel();
		else this.fail(reason);
	}

	/** The request has ended, by the stream's end as a rule. */
	release(): void {
		if (this.#isDone) return;
		this.#isDone = true;
		this.#timer?.cancel();
		if (this.#flow === undefined) discardStream(this.#source);
		else this.#flow.cancel();
	}

	start(sink: EventSink): ByteFlow {
		this.#sink = sink;
		const unread = this.#unread;
		if (unread !== undefined) {
			// A source says nothing before its `start` has returned.
			if (unread.code !== 'client_closed') queueMicrotask(() => this.#tell(unread));
			return this;
		}
		this.#flow = this.#source.start(this);
		this.#timer = this.#parts.clock.after(this.#parts.heartbeatMs, this.#beat);
		return this;
	}

	write(bytes: Buffer): boolean {
		this.#isSilent = false;
		this.#tail.push(bytes);
		if (this.#framer === undefined) {
			this.#meter.pushOpaque(bytes);
			this.#mayWrite = this.#sink.writeOpaque(bytes);
			return this.#mayWrite;
		}
		const events = this.#framer.push(bytes);
		if (events !== undefined) this.#writeEvents(events);
		if (this.#framer.heldBytes > maxHeldBytes) this.#releaseHeld(this.#framer);
		return this.#mayWrite || this.#isLeft;
	}

	end(): void {
		const droppedBytes = this.#takeLast();
		if (this.#isDone) return;
		if (this.#isLeft) {
			this.#leave();
			return;
		}
		if (!this.#mayEnd() && !this.#isComplete(droppedBytes)) {
			this.fail(new Fault('provider_disconnected', { message: 'The provider ended the stream before its last event: retry' }));
			return;
		}
		const owed = this.#owed();
		if (owed instanceof Error) {
			this.fail(owed);
			return;
		}
		if (owed !== noEvents) this.#sink.write(owed);
		this.#finish(completed(200));
		this.#sink.end();
	}

	fail(cause: unknown): void {
		if (this.#isDone) return;
		if (this.#isLeft) {
			this.#leave();
			return;
		}
		this.#flow?.cancel();
		const owed = this.#framer !== undefined && this.#mayEnd() ? this.#owed() : undefined;
		const isWhole = owed instanceof EventBatch;
		this.#finish(isWhole ? completed(200) : failed(cause));
		if (isWhole) {
			if (owed !== noEvents) this.#sink.write(owed);
			this.#sink.end();
			return;
		}
		this.#tell(cause);
	}

	/** Ends the client's stream by an error. */
	#tell(cause: unknown): void {
		const error = describeFailure(cause, this.#parts.requestId);
		reportFailure(cause, this.#parts.requestId, this.#scope.record.facts, this.#parts.log);
		if (this.#framer === undefined) {
			this.#sink.fail(cause);
			return;
		}
		this.#sink.write(this.#capEvents(cause) ?? errorEvent(this.#format, error, this.#missingEnd));
		this.#sink.end();
	}

	/** Undefined: a stream that ends by this ends by an error event. */
	#capEvents(cause: unknown): EventBatch | undefined {
		const { booked } = this.#permit;
		const events = cause instanceof StreamStopped && booked !== undefined ? this.#capEnding?.end(booked.usage) : undefined;
		if (events === undefined || this.#missingEnd === undefined) return events;
		return EventBatch.ofEvents([StreamEvent.ofBytes(this.#missingEnd), ...events.events]);
	}

	resume(): void {
		this.#mayWrite = true;
		this.#flow?.resume();
	}

	cancel(): void {
		if (this.#isDone) this.#sink = emptySink;
		if (this.#isDone || this.#isLeft) return;
		if (!this.#isUsageNear()) {
			this.#leave();
			return;
		}
		this.#isLeft = true;
		this.#sink = emptySink;
		this.#timer?.cancel();
		this.#timer = this.#parts.clock.after(usageWaitMs, () => this.#leave());
		this.#flow?.resume();
	}

	#leave(): void {
		if (this.#isDone) return;
		const hasAll = !this.#isLeft && this.#mayEnd();
		this.#flow?.cancel();
		this.#finish(hasAll ? completed(200) : failed(new Refusal('client_closed')));
		// Also when the sink cancels in the middle of a write.
		this.#sink = emptySink;
	}

	/** Without it, what was thought and not shown would be charged as much as it may have been. */
	#isUsageNear(): boolean {
		if (this.#flow === undefined || this.#mayEnd() || !this.#permit.isBlind(this.#meter.read())) return false;
		return this.#providerFormat.tellsUsageNext(this.#tail.read());
	}

	/** The client has what the provider had to say; what follows it does not matter. */
	#mayEnd(): boolean {
		if (this.#isUntranslatable) return false;
		return this.#framer === undefined || this.#framer.isTerminated || this.#translation?.isTerminated === true || this.#hasFailed;
	}

	/** A translation reads events whole; the framing goes by their labels, which some servers leave out. */
	get #hasFailed(): boolean {
		return this.#framer?.hasFailed === true || this.#translation?.hasFailed === true;
	}

	/** @param droppedBytes of half an event, which says nothing. */
	#isComplete(droppedBytes: number): boolean {
		const tail = this.#tail.read();
		return this.#providerFormat.isComplete(tail.subarray(0, Math.max(0, tail.length - droppedBytes)));
	}

	/** The stream has ended: its last event may lack the empty line. @returns the length of what is no whole event, and goes nowhere. */
	#takeLast(): number {
		const last = this.#framer?.end();
		if (last?.batch !== undefined) this.#writeEvents(last.batch, last.appended);
		return last?.droppedBytes ?? 0;
	}

	/** What the last event told of usage counts, though it may have been cut before its empty line and does not pass. */
	#meterLast(): void {
		const batch = this.#framer?.end().batch;
		if (batch !== undefined) this.#meter.push(batch);
	}

	/** @param appended to their end, which does not pass as the provider's. */
	#writeEvents(events: EventBatch, appended?: Buffer): void {
		const metered = this.#meter.push(events);
		if (this.#isLeft) {
			if (!this.#permit.isBlind(this.#meter.read())) this.#leave();
			return;
		}
		const shown = this.#translation === undefined ? this.#withoutAppended(metered, appended) : this.#translate(this.#translation, metered);
		if (!shown.isEmpty) {
			this.#capEnding?.push(shown);
			this.#mayWrite = this.#sink.write(this.#hasFailed ? this.#scrubbed(shown) : shown);
		}
		// Last, for it may end the stream, and what has arrived is paid for.
		if (!this.#isDone) this.#permit.delivered(this.#meter);
	}

	#scrubbed({ events }: EventBatch): EventBatch {
		return EventBatch.ofEvents(events.map(({ bytes }) => StreamEvent.ofBytes(scrubSecrets(bytes, this.#secrets))));
	}

	#withoutAppended(events: EventBatch, appended: Buffer | undefined): EventBatch {
		if (appended === undefined || events.isEmpty) return events;
		this.#missingEnd = appended;
		const bytes = events.bytes.subarray(0, -appended.length);
		return EventBatch.ofBytes(bytes, [bytes.length]);
	}

	#translate(translation: StreamTranslation, events: EventBatch): EventBatch {
		try {
			return translation.push(events);
		} catch (cause) {
			this.#isUntranslatable = true;
			this.fail(cause);
			return noEvents;
		}
	}

	/** What only the end of the provider's stream tells; why there is none, when its events make no answer. */
	#owed(): EventBatch | Error {
		if (this.#translation === undefined || this.#translation.hasFailed || this.#isUntranslatable) return noEvents;
		try {
			return this.#translation.end();
		} catch (cause) {
			this.#isUntranslatable = true;
			return cause instanceof Error ? cause : new Error('the translation of the response failed', { cause });
		}
	}

	#releaseHeld(framer: EventFramer): void {
		if (this.#translation !== undefined) {
			this.fail(new Fault('provider_response_invalid', { message: `The provider sent an event of more than ${maxHeldBytes} bytes` }));
			return;
		}
		const bytes = framer.takeHeld();
		this.#framer = undefined;
		this.#meter.pushOpaque(bytes);
		this.#mayWrite = this.#sink.writeOpaque(bytes);
	}

	readonly #beat = (): void => {
		this.#permit.renew();
		const isIdle = this.#framer !== undefined && this.#isSilent && this.#mayWrite && !this.#mayEnd();
		if (isIdle) this.#mayWrite = this.#sink.write(heartbeatEvent);
		this.#isSilent = true;
		this.#timer = this.#parts.clock.after(this.#parts.heartbeatMs, this.#beat);
	};

	#finish(outcome: RequestOutcome): void {
		this.#isDone = true;
		this.#timer?.cancel();
		this.#meterLast();
		this.#permit.meterStreamed(this.#meter.read());
		this.#scope.end(this.#hasFailed ? { ...outcome, kind: 'upstream_error', code: outcome.code ?? 'provider_failed' } : outcome);
	}
}
