import { BytePieces } from '../../../core/byte-pieces.ts';
import { discardStream, nothing } from '../../../core/byte-stream.ts';
import type { Clock, Timer } from '../../../core/clock.ts';
import { Fault } from '../../../core/fault.ts';
import type { ByteFlow, ByteSink, ByteStream } from '../../../core/handler.ts';
import type { Log } from '../../../core/log.ts';
import { Refusal } from '../../../core/refusal.ts';
import type { CallOutcome } from '../../../stores/contracts/ledger.ts';
import type { Format, ProviderFormat } from '../../../wire/formats/format.ts';
import { scrubSecrets } from '../../../wire/providers/scrub-secrets.ts';
import { ByteOrderMarkFilter } from '../../../wire/sse/byte-order-mark.ts';
import { EventFrames } from '../../../wire/sse/event-frames.ts';
import { heartbeat } from '../../../wire/sse/heartbeat.ts';
import { missingEnd } from '../../../wire/sse/missing-end.ts';
import { RecentBytes } from '../../../wire/sse/recent-bytes.ts';
import type { StreamTranslation } from '../../../wire/translation/translation.ts';
import type { UsageMeter } from '../../../wire/usage/usage-meter.ts';
import { describeFailure, reportFailure } from '../failure.ts';
import type { OpenCall } from '../open-calls.ts';
import type { Permit } from '../permit.ts';
import type { PreparedCall } from './prepare-call.ts';

export interface RelayParts {
	readonly clock: Clock;
	readonly log: Log;
	readonly heartbeatMs: number;
	readonly requestId: string;
}

/** A longer event is relayed as it comes; from then on nothing can be put between events any more. */
const maxHeldBytes = 4 * 1024 * 1024;

const nothingWritten = Buffer.alloc(0);

/** A stream whose client has left is read on so long for what it cost, where that is all that is missing. */
const usageWaitMs = 500;

/** Enough for the last events of a stream: what tells why it ended, and usage. */
const tailBytes = 8192;

/**
 * Passes a provider's event stream on byte for byte. Whole events leave as soon as they are there; the beginning
 * of one waits for its end, so that whatever goes wrong the client never sees half an event, and ends with an
 * error event of its own format. One object is the stream, the sink and the flow, for there is one per call.
 */
export class StreamRelay implements ByteStream, ByteSink, ByteFlow {
	readonly #source: ByteStream;
	readonly #format: Format;
	readonly #providerFormat: ProviderFormat;
	readonly #translation: StreamTranslation | undefined;
	/** What no error of the provider may show. */
	readonly #secrets: readonly string[];
	readonly #permit: Permit;
	readonly #meter: UsageMeter;
	readonly #open: OpenCall;
	readonly #parts: RelayParts;
	/** Undefined while framing is unknown: a compressed stream, or an event too long to hold. */
	#frames: EventFrames | undefined;
	readonly #mark = new ByteOrderMarkFilter();
	#sink: ByteSink = nothing;
	#flow: ByteFlow | undefined;
	readonly #tail = new RecentBytes(tailBytes);
	/** The beginning of an event. */
	readonly #held = new BytePieces();
	/** What the last event lacked, once it was passed on without: an error event needs it. */
	#missingEnd: Buffer = nothingWritten;
	#timer: Timer | undefined;
	#isSilent = true;
	#mayWrite = true;
	#isDone = false;
	/** The client has left, and usage is waited for. */
	#isLeft = false;
	#isUntranslatable = false;

	/** @param isOpaque the bytes are compressed: nothing can be read from them or put between them. */
	constructor(source: ByteStream, call: PreparedCall, permit: Permit, open: OpenCall, parts: RelayParts, isOpaque: boolean) {
		this.#source = source;
		const { format, providerFormat, translated } = call;
		this.#format = format;
		this.#providerFormat = providerFormat;
		this.#secrets = call.provider.secrets;
		this.#permit = permit;
		const meter = permit.createMeter();
		this.#meter = meter;
		this.#translation = translated?.translation.translateStream({ ...translated.call, charged: () => permit.charged(meter.read()) });
		this.#open = open;
		this.#parts = parts;
		this.#frames = isOpaque ? undefined : new EventFrames(providerFormat.markLine);
		open.whenEnded((reason) => {
			discardStream(source);
			permit.endUnanswered(reason);
		});
	}

	start(sink: ByteSink): ByteFlow {
		this.#sink = sink;
		if (!this.#open.isEnded) this.#flow = this.#source.start(this);
		this.#open.whenEnded((reason) => (reason.code === 'client_closed' ? this.cancel() : this.fail(reason)));
		if (this.#frames !== undefined) this.#timer = this.#parts.clock.after(this.#parts.heartbeatMs, this.#beat);
		return this;
	}

	write(bytes: Buffer): boolean {
		this.#isSilent = false;
		this.#tail.push(bytes);
		if (this.#frames === undefined) {
			this.#meter.pushOpaque(bytes);
			this.#mayWrite = this.#sink.write(bytes);
			return this.#mayWrite;
		}
		const chunk = this.#mark.push(bytes);
		const eventsEnd = this.#frames.push(chunk);
		if (eventsEnd === chunk.length && this.#held.length === 0) this.#writeEvents(chunk);
		else this.#writeSome(chunk, eventsEnd);
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
		if (owed.length > 0) this.#sink.write(owed);
		this.#finish('complete');
		this.#sink.end();
	}

	fail(cause: unknown): void {
		if (this.#isDone) return;
		if (this.#isLeft) {
			this.#leave();
			return;
		}
		this.#flow?.cancel();
		const owed = this.#frames !== undefined && this.#mayEnd() ? this.#owed() : undefined;
		const isWhole = Buffer.isBuffer(owed);
		const isOurs = cause instanceof Refusal && cause.code !== 'draining';
		this.#finish(isWhole ? 'complete' : 'broken', !isWhole && isOurs);
		if (isWhole) {
			if (owed.length > 0) this.#sink.write(owed);
			this.#sink.end();
			return;
		}
		const error = describeFailure(cause, this.#parts.requestId);
		this.#open.facts.code = error.code;
		reportFailure(cause, this.#parts.requestId, this.#open.facts, this.#parts.log);
		if (this.#frames === undefined) {
			this.#sink.fail(cause);
			return;
		}
		const event = this.#format.renderErrorEvent(error);
		this.#sink.write(this.#missingEnd.length === 0 ? event : Buffer.concat([this.#missingEnd, event]));
		this.#sink.end();
	}

	resume(): void {
		this.#mayWrite = true;
		this.#flow?.resume();
	}

	cancel(): void {
		if (this.#isDone || this.#isLeft) return;
		if (!this.#isUsageNear()) {
			this.#leave();
			return;
		}
		this.#isLeft = true;
		this.#sink = nothing;
		this.#timer?.cancel();
		this.#timer = this.#parts.clock.after(usageWaitMs, () => this.#leave());
		this.#flow?.resume();
	}

	#leave(): void {
		if (this.#isDone) return;
		const hasAll = !this.#isLeft && this.#mayEnd();
		this.#flow?.cancel();
		this.#finish(hasAll ? 'complete' : 'client_closed', !hasAll);
		// Also when the sink cancels in the middle of a write.
		this.#sink = nothing;
		if (!hasAll) this.#open.facts.code = 'client_closed';
	}

	/** Without it, what was thought and not shown would be charged as much as it may have been. */
	#isUsageNear(): boolean {
		if (this.#flow === undefined || this.#mayEnd() || !this.#permit.isBlind(this.#meter.read())) return false;
		return this.#providerFormat.tellsUsageNext(this.#tail.read());
	}

	/** The client has what the provider had to say; what follows it does not matter. */
	#mayEnd(): boolean {
		if (this.#isUntranslatable) return false;
		return this.#frames === undefined || this.#frames.isTerminated || this.#translation?.isTerminated === true || this.#hasFailed;
	}

	/** A translation reads events whole; the framing goes by their labels, which some servers leave out. */
	get #hasFailed(): boolean {
		return this.#frames?.hasFailed === true || this.#translation?.hasFailed === true;
	}

	/** @param droppedBytes of half an event, which says nothing. */
	#isComplete(droppedBytes: number): boolean {
		const tail = this.#tail.read();
		return this.#providerFormat.isComplete(tail.subarray(0, Math.max(0, tail.length - droppedBytes)));
	}

	/** The stream has ended: its last event may lack the empty line. @returns the length of what is no whole event, and goes nowhere. */
	#takeLast(): number {
		const frames = this.#frames;
		if (frames === undefined || this.#held.length === 0) return 0;
		const event = this.#held.take();
		const end = missingEnd(event);
		if (end === undefined) return event.length;
		frames.push(end);
		this.#writeEvents(Buffer.concat([event, end]), end);
		return 0;
	}

	/** What the last event told of usage counts, though it may have been cut before its empty line and does not pass. */
	#meterLast(): void {
		if (this.#frames === undefined || this.#held.length === 0) return;
		const event = this.#held.take();
		const end = missingEnd(event);
		if (end !== undefined) this.#meter.push(Buffer.concat([event, end]));
	}

	/** @param events whole ones. @param madeUp of their end, which does not pass as the provider's. */
	#writeEvents(events: Buffer, madeUp: Buffer = nothingWritten): void {
		const metered = this.#meter.push(events);
		this.#permit.delivered(this.#meter.deliveredTokens());
		if (this.#isLeft) {
			if (!this.#permit.isBlind(this.#meter.read())) this.#leave();
			return;
		}
		const shown = this.#translation === undefined ? this.#withoutMadeUp(metered, madeUp) : this.#translate(this.#translation, metered);
		if (shown.length > 0) this.#mayWrite = this.#sink.write(this.#hasFailed ? scrubSecrets(shown, this.#secrets) : shown);
	}

	#withoutMadeUp(events: Buffer, madeUp: Buffer): Buffer {
		if (madeUp.length === 0 || events.length === 0) return events;
		this.#missingEnd = madeUp;
		return events.subarray(0, events.length - madeUp.length);
	}

	#translate(translation: StreamTranslation, events: Buffer): Buffer {
		try {
			return translation.push(events);
		} catch (cause) {
			this.#isUntranslatable = true;
			this.fail(cause);
			return nothingWritten;
		}
	}

	/** What only the end of the provider's stream tells; why there is none, when its events make no answer. */
	#owed(): Buffer | Error {
		if (this.#translation === undefined || this.#translation.hasFailed || this.#isUntranslatable) return nothingWritten;
		try {
			return this.#translation.end();
		} catch (cause) {
			this.#isUntranslatable = true;
			return cause instanceof Error ? cause : new Error('the translation failed', { cause });
		}
	}

	#writeSome(chunk: Buffer, eventsEnd: number): void {
		if (eventsEnd > 0) {
			this.#held.push(chunk.subarray(0, eventsEnd));
			this.#writeEvents(this.#held.take());
		}
		if (eventsEnd === chunk.length) return;
		this.#held.push(chunk.subarray(eventsEnd));
		if (this.#held.length <= maxHeldBytes) return;
		if (this.#translation !== undefined) {
			this.fail(new Fault('provider_answer_invalid', { message: `The provider sent an event of more than ${maxHeldBytes} bytes` }));
			return;
		}
		this.#releaseHeld();
		this.#frames = undefined;
	}

	#releaseHeld(): void {
		if (this.#held.length === 0) return;
		const bytes = this.#held.take();
		this.#meter.pushOpaque(bytes);
		this.#mayWrite = this.#sink.write(bytes);
	}

	readonly #beat = (): void => {
		if (this.#frames === undefined) return;
		if (this.#isSilent && this.#mayWrite && !this.#mayEnd()) this.#mayWrite = this.#sink.write(heartbeat);
		this.#isSilent = true;
		this.#timer = this.#parts.clock.after(this.#parts.heartbeatMs, this.#beat);
	};

	/** @param isLeft before the provider could tell what it costs. */
	#finish(outcome: CallOutcome, isLeft = false): void {
		this.#isDone = true;
		this.#meterLast();
		this.#permit.endStreamed(this.#hasFailed ? 'upstream_error' : outcome, this.#meter.read(), isLeft);
		this.#timer?.cancel();
		if (this.#hasFailed) this.#open.facts.code = 'provider_failed';
		this.#open.close();
	}
}
