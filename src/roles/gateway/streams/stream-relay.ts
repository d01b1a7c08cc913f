import { discardStream } from '../../../core/byte-stream.ts';
import type { Clock, Timer } from '../../../core/clock.ts';
import type { ByteFlow, ByteSink, ByteStream } from '../../../core/handler.ts';
import type { Log } from '../../../core/log.ts';
import { Rejection } from '../../../core/rejection.ts';
import { UpstreamError } from '../../../core/upstream-error.ts';
import type { StreamTranslation } from '../../../wire/conversation/translation.ts';
import type { CapEnding, ClientDialect, Dialect, ErrorEnding } from '../../../wire/dialects/dialect.ts';
import { EventBatch, noEvents } from '../../../wire/events/event-batch.ts';
import { EventFramer } from '../../../wire/events/event-framer.ts';
import { RecentBytes } from '../../../wire/events/recent-bytes.ts';
import { StreamEvent } from '../../../wire/events/stream-event.ts';
import { scrubSecrets } from '../../../wire/providers/scrub-secrets.ts';
import type { UsageMeter } from '../../../wire/usage/usage-meter.ts';
import { describeFailure, reportFailure } from '../failure.ts';
import type { OwnedIds } from '../owned-ids.ts';
import type { StreamPermit } from '../request-scope/permit.ts';
import {
	type AbortReason,
	completed,
	failed,
	type RequestScope,
	type Resource,
	type ScopeOutcome,
} from '../request-scope/request-scope.ts';
import type { PreparedRequest } from '../stages/prepare-request.ts';
import { StreamStopped } from '../stream-reservation.ts';
import { type EventSink, type EventSource, errorEvent, heartbeatEvent } from './event-source.ts';

export interface StreamReaders {
	/** Receives the ids under which the provider stores the response; undefined if it stores nothing. */
	readonly ownedIds?: Pick<OwnedIds, 'push'> | undefined;
	/** Undefined if the provider generates nothing after the end of the stream. */
	readonly background?: StreamFollower | undefined;
}

export interface StreamFollower {
	/** Called with the events of the stream. */
	push(events: EventBatch): void;
	/** Takes over the permit of a stream that ended before its usage was reported. @returns false if the response cannot be followed. */
	followStream(): boolean;
}

export interface RelayDeps extends StreamReaders {
	readonly clock: Clock;
	readonly log: Log;
	readonly heartbeatMs: number;
	readonly requestId: string;
	/** End of a stream that exceeds its budget. */
	readonly stoppedStream: 'error' | 'length';
}

/** Buffer limit of an event. A longer one is relayed in chunks; from then on, no event can be inserted. */
const maxBufferedBytes = 4 * 1024 * 1024;

const emptySink: EventSink = { write: () => false, writeOpaque: () => false, end: () => undefined, fail: () => undefined };

/** Maximum time to wait for usage after the client disconnected, if only usage is missing. */
const usageWaitMs = 500;

/** Size that contains the last events of a stream: stop reason and usage. */
const tailBytes = 8192;

/**
 * Relays a provider's event stream byte for byte. An event is sent when it is complete, so that the client never receives a partial one.
 * Failures end with an error event of the client's format. The end of the stream is that of the request. One object is stream, sink and
 * flow, to save allocations per request.
 */
export class StreamRelay implements EventSource, ByteSink, ByteFlow, Resource {
	readonly #source: ByteStream;
	readonly #format: ClientDialect;
	readonly #providerFormat: Dialect;
	readonly #translation: StreamTranslation | undefined;
	/** Secrets that are removed from the provider's errors. */
	readonly #secrets: readonly string[];
	readonly #permit: StreamPermit;
	readonly #meter: UsageMeter;
	readonly #scope: RequestScope;
	readonly #deps: RelayDeps;
	/** Ending of a stopped stream as a reached output cap. */
	readonly #capEnding: CapEnding | undefined;
	readonly #errorEnding: ErrorEnding | undefined;
	/** Undefined if the framing is unknown: a compressed stream, or an event above the buffer limit. */
	#framer: EventFramer | undefined;
	#sink: EventSink = emptySink;
	#flow: ByteFlow | undefined;
	readonly #tail = new RecentBytes(tailBytes);
	/** Missing end of the last event, which was relayed without it; an error event needs it. */
	#missingEnd: Buffer | undefined;
	#timer: Timer | undefined;
	#isSilent = true;
	#canWrite = true;
	#isDone = false;
	/** True if the client disconnected and usage is still awaited. */
	#clientDisconnected = false;
	#isUntranslatable = false;
	/** Reason of an abort before the stream was read. */
	#unread: AbortReason | undefined;

	/** @param isOpaque true if the bytes are compressed, so that events can be neither read nor inserted. */
	constructor(
		source: ByteStream,
		inferenceRequest: PreparedRequest,
		permit: StreamPermit,
		scope: RequestScope,
		deps: RelayDeps,
		isOpaque: boolean,
	) {
		this.#source = source;
		const { format, providerFormat, translated } = inferenceRequest;
		this.#format = format;
		this.#providerFormat = providerFormat;
		this.#secrets = inferenceRequest.provider.secrets;
		this.#permit = permit;
		const meter = permit.createMeter();
		this.#meter = meter;
		this.#translation = translated?.translation.translateStream({
			...translated.inferenceRequest,
			charged: () => permit.charged(meter.read()),
		});
		this.#scope = scope;
		this.#deps = deps;
		this.#capEnding = deps.stoppedStream === 'length' && permit.isStoppable ? format.followToCap(inferenceRequest.body.members) : undefined;
		this.#errorEnding = format.followToError?.();
		this.#framer = isOpaque ? undefined : new EventFramer(providerFormat.markLine);
		scope.attach(this);
	}

	/** Aborts the stream. Before the stream is read, no other code would end the request. */
	abort(reason: AbortReason): void {
		if (this.#flow === undefined) {
			this.#unread = reason;
			this.#scope.end(failed(reason));
		} else if (reason.code === 'client_closed') this.cancel();
		else this.fail(reason);
	}

	/** Called at the end of the request, which is usually that of the stream. */
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
			// Deferred: a source emits nothing before its `start` has returned.
			if (unread.code !== 'client_closed') queueMicrotask(() => this.#notify(unread));
			return this;
		}
		this.#flow = this.#source.start(this);
		this.#timer = this.#deps.clock.after(this.#deps.heartbeatMs, this.#beat);
		return this;
	}

	write(bytes: Buffer): boolean {
		this.#isSilent = false;
		this.#tail.push(bytes);
		if (this.#framer === undefined) {
			this.#meter.pushOpaque(bytes);
			this.#canWrite = this.#sink.writeOpaque(bytes);
			return this.#canWrite;
		}
		const events = this.#framer.push(bytes);
		if (events !== undefined) this.#writeEvents(events);
		if (this.#framer.bufferedBytes > maxBufferedBytes) this.#releaseBuffered(this.#framer);
		return this.#canWrite || this.#clientDisconnected;
	}

	end(): void {
		const droppedBytes = this.#takeLast();
		if (this.#isDone) return;
		if (this.#clientDisconnected) {
			this.#disconnect();
			return;
		}
		if (!this.#canEnd() && !this.#isComplete(droppedBytes)) {
			this.fail(new UpstreamError('provider_disconnected', { message: 'The provider ended the stream before its last event: retry' }));
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
		if (this.#clientDisconnected) {
			this.#disconnect();
			return;
		}
		this.#flow?.cancel();
		const owed = this.#framer !== undefined && this.#canEnd() ? this.#owed() : undefined;
		const isWhole = owed instanceof EventBatch;
		this.#finish(isWhole ? completed(200) : failed(cause));
		if (isWhole) {
			if (owed !== noEvents) this.#sink.write(owed);
			this.#sink.end();
			return;
		}
		this.#notify(cause);
	}

	/** Ends the client's stream with an error. */
	#notify(cause: unknown): void {
		const error = describeFailure(cause, this.#deps.requestId);
		reportFailure(cause, this.#deps.requestId, this.#scope.recorder.record, this.#deps.log);
		if (this.#framer === undefined) {
			this.#sink.fail(cause);
			return;
		}
		this.#sink.write(this.#capEvents(cause) ?? errorEvent(this.#format, error, this.#errorEnding, this.#missingEnd));
		this.#sink.end();
	}

	/** Returns the events of a reached output cap; undefined to end with an error event. */
	#capEvents(cause: unknown): EventBatch | undefined {
		const { settled } = this.#permit;
		const events = cause instanceof StreamStopped && settled !== undefined ? this.#capEnding?.end(settled.usage) : undefined;
		if (events === undefined || this.#missingEnd === undefined) return events;
		return EventBatch.ofEvents([StreamEvent.ofBytes(this.#missingEnd), ...events.events]);
	}

	resume(): void {
		this.#canWrite = true;
		this.#flow?.resume();
	}

	cancel(): void {
		if (this.#isDone) this.#sink = emptySink;
		if (this.#isDone || this.#clientDisconnected) return;
		if (!this.#isUsageNear()) {
			this.#disconnect();
			return;
		}
		this.#clientDisconnected = true;
		this.#sink = emptySink;
		this.#timer?.cancel();
		this.#timer = this.#deps.clock.after(usageWaitMs, () => this.#disconnect());
		this.#flow?.resume();
	}

	#disconnect(): void {
		if (this.#isDone) return;
		const hasAll = !this.#clientDisconnected && this.#canEnd();
		this.#flow?.cancel();
		this.#finish(hasAll ? completed(200) : failed(new Rejection('client_closed')));
		// Also when the sink cancels in the middle of a write.
		this.#sink = emptySink;
	}

	/** Returns true if usage is about to arrive. Without it, hidden reasoning would be charged at its maximum. */
	#isUsageNear(): boolean {
		if (this.#flow === undefined || this.#canEnd() || !this.#permit.isBlind(this.#meter.read())) return false;
		return this.#providerFormat.reportsUsageNext(this.#tail.read());
	}

	/** Returns true if the client has the provider's complete output, so that the rest does not matter. */
	#canEnd(): boolean {
		if (this.#isUntranslatable) return false;
		return this.#framer === undefined || this.#framer.isTerminated || this.#translation?.isTerminated === true || this.#hasFailed;
	}

	/** A translation reads complete events. The framing uses their labels, which some servers omit. */
	get #hasFailed(): boolean {
		return this.#framer?.hasFailed === true || this.#translation?.hasFailed === true;
	}

	/** @param droppedBytes of a partial event, which is ignored. */
	#isComplete(droppedBytes: number): boolean {
		const tail = this.#tail.read();
		return this.#providerFormat.isComplete(tail.subarray(0, Math.max(0, tail.length - droppedBytes)));
	}

	/** Writes the last event, which may lack its empty line. @returns the length of a partial event, which is dropped. */
	#takeLast(): number {
		const last = this.#framer?.end();
		if (last?.batch !== undefined) this.#writeEvents(last.batch, last.appended);
		return last?.droppedBytes ?? 0;
	}

	/** Meters usage in the last event, although it may lack its empty line and is not relayed. */
	#meterLast(): void {
		const batch = this.#framer?.end().batch;
		if (batch !== undefined) this.#meter.push(batch);
	}

	/** @param appended end that the framer added, which is not relayed as the provider's. */
	#writeEvents(events: EventBatch, appended?: Buffer): void {
		this.#deps.ownedIds?.push(events);
		this.#deps.background?.push(events);
		const metered = this.#meter.push(events);
		if (this.#clientDisconnected) {
			if (!this.#permit.isBlind(this.#meter.read())) this.#disconnect();
			return;
		}
		const texts = this.#translation === undefined ? this.#withoutAppended(metered, appended) : this.#translate(this.#translation, metered);
		if (!texts.isEmpty) {
			this.#capEnding?.push(texts);
			this.#errorEnding?.push(texts.bytes);
			this.#canWrite = this.#sink.write(this.#hasFailed ? this.#scrubbed(texts) : texts);
		}
		// Called last, because it may end the stream, and the received output is charged.
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

	/** Returns the events that only the end of the provider's stream determines; an error if its events form no response. */
	#owed(): EventBatch | Error {
		if (this.#translation === undefined || this.#translation.hasFailed || this.#isUntranslatable) return noEvents;
		try {
			return this.#translation.end();
		} catch (cause) {
			this.#isUntranslatable = true;
			return cause instanceof Error ? cause : new Error('the translation of the response failed', { cause });
		}
	}

	#releaseBuffered(framer: EventFramer): void {
		if (this.#translation !== undefined) {
			this.fail(
				new UpstreamError('provider_response_invalid', { message: `The provider sent an event of more than ${maxBufferedBytes} bytes` }),
			);
			return;
		}
		const bytes = framer.takeBuffered();
		this.#framer = undefined;
		this.#meter.pushOpaque(bytes);
		this.#canWrite = this.#sink.writeOpaque(bytes);
	}

	readonly #beat = (): void => {
		this.#permit.renew();
		const isIdle = this.#framer !== undefined && this.#isSilent && this.#canWrite && !this.#canEnd();
		if (isIdle) this.#canWrite = this.#sink.write(heartbeatEvent);
		this.#isSilent = true;
		this.#timer = this.#deps.clock.after(this.#deps.heartbeatMs, this.#beat);
	};

	#finish(outcome: ScopeOutcome): void {
		this.#isDone = true;
		this.#timer?.cancel();
		this.#meterLast();
		const metered = this.#meter.read();
		const isFollowed = metered.isEstimated && this.#deps.background?.followStream() === true;
		if (!isFollowed) this.#permit.meterStream(metered);
		this.#scope.end(this.#hasFailed ? { ...outcome, kind: 'upstream_error', code: outcome.code ?? 'provider_failed' } : outcome);
	}
}
