import { Arena } from '../../../core/byte-pieces.ts';
import type { ByteFlow } from '../../../core/handler.ts';
import type { Finding } from '../../../policy/guardrails/guardrail.ts';
import type { Guardrails } from '../../../policy/guardrails/guardrails.ts';
import type { BufferedSegment, SegmentPiece } from '../../../policy/guardrails/segments/buffered-segment.ts';
import type { ClientDialect, ErrorEnding } from '../../../wire/dialects/dialect.ts';
import { EventBatch } from '../../../wire/events/event-batch.ts';
import { StreamEvent } from '../../../wire/events/stream-event.ts';
import { spliceBody } from '../../../wire/json/splice-body.ts';
import type { EventView, StreamingText, Unreadable, ViewedText } from '../../../wire/text-view.ts';
import { describeFailure } from '../failure.ts';
import { blocked, type GuardedRequest, type GuardrailRunner } from '../guardrail-runner.ts';
import { maskEdits } from '../mask-edits.ts';
import type { RequestRecorder } from '../request-scope/request-recorder.ts';
import { type EventSink, type EventSource, errorEvent } from './event-source.ts';
import type { StreamRelay } from './stream-relay.ts';
import { ambiguous, unparsed, viewEvent, viewOtherFields } from './view-event.ts';

export type StreamGuardrailRunner = Pick<GuardrailRunner, 'report' | 'requireReadable'>;

/** A piece of text in a buffered event, with its position in the joined text. */
interface BufferedPiece {
	readonly viewed: StreamingText;
	readonly piece: SegmentPiece;
}

interface BufferedEvent {
	readonly event: StreamEvent;
	readonly pieces: readonly BufferedPiece[];
}

const noPieces: readonly BufferedPiece[] = [];
/** Buffer limit; a stream that exceeds it is blocked. */
const maxBufferedBytes = 8 * 1024 * 1024;

/**
 * Buffers a stream's events until none of their text can belong to a blocked or masked match. Events are released complete and in order,
 * byte for byte unless something is masked. On a block, the stream ends with an error event of its format, and its request ends.
 */
export class BlockingGuard implements EventSource, EventSink {
	readonly #relay: StreamRelay;
	readonly #format: ClientDialect;
	readonly #inferenceRequest: GuardedRequest;
	readonly #guardrailRunner: StreamGuardrailRunner;
	readonly #guardrails: Guardrails;
	readonly #recorder: Pick<RequestRecorder, 'report'>;
	/** Joined texts by thread name, or by block for a text without one. */
	readonly #segmentGroups = new Map<string, BufferedSegment>();
	/** Findings of ended texts. */
	readonly #findings: Finding[] = [];
	readonly #unreadable: Unreadable[] = [];
	readonly #buffered: BufferedEvent[] = [];
	#bufferedBytes = 0;
	readonly #pages = new Arena();
	readonly #errorEnding: ErrorEnding | undefined;
	#sink: EventSink | undefined;
	#isOver = false;

	constructor(
		relay: StreamRelay,
		format: ClientDialect,
		inferenceRequest: GuardedRequest,
		guardrailRunner: StreamGuardrailRunner,
		guardrails: Guardrails,
		recorder: Pick<RequestRecorder, 'report'>,
	) {
		this.#relay = relay;
		this.#format = format;
		this.#errorEnding = format.followToError?.();
		this.#inferenceRequest = inferenceRequest;
		this.#guardrailRunner = guardrailRunner;
		this.#guardrails = guardrails;
		this.#recorder = recorder;
	}

	start(sink: EventSink): ByteFlow {
		this.#sink = sink;
		const flow = this.#relay.start(this);
		return {
			resume: () => flow.resume(),
			cancel: () => {
				flow.cancel();
				this.#finish();
			},
		};
	}

	write(batch: EventBatch): boolean {
		if (this.#isOver) return true;
		for (const event of batch.events) this.#buffer(event);
		if (this.#bufferedBytes > maxBufferedBytes) this.#blockUnread();
		return this.#isOver || this.#release();
	}

	writeOpaque(): boolean {
		if (!this.#isOver) this.#blockUnread();
		return true;
	}

	end(): void {
		if (this.#isOver) return;
		for (const segmentGroup of this.#segmentGroups.values()) segmentGroup.end();
		this.#blockIfViolated();
		if (this.#isOver) return;
		this.#release();
		this.#finish();
		this.#sink?.end();
	}

	fail(cause: unknown): void {
		if (this.#isOver) return;
		this.#finish();
		this.#sink?.fail(cause);
	}

	#buffer(event: StreamEvent): void {
		if (this.#isOver) return;
		event.storeIn(this.#pages);
		const view = viewEvent(event, this.#format);
		const pieces = view?.texts.map((viewed) => ({ viewed, piece: this.#push(viewed) })) ?? noPieces;
		if (view !== undefined) this.#endSegmentGroups(view);
		this.#readOtherFields(event);
		this.#buffered.push({ event, pieces });
		this.#bufferedBytes += event.bytes.length;
		this.#blockIfViolated();
	}

	/** Reads fields next to the data. They cannot be masked, so that a match blocks. */
	#readOtherFields(event: StreamEvent): void {
		const { texts, hasUnknown } = viewOtherFields(event);
		if (hasUnknown) this.#reject([unparsed]);
		for (const text of texts) {
			const segmentGroup = this.#guardrails.bufferSegment(false, this.#inferenceRequest.team);
			segmentGroup.push('', text);
			segmentGroup.end();
			const { findings } = segmentGroup;
			const match = findings.find(({ action }) => action !== 'NONE');
			this.#findings.push(...findings.map((finding) => (finding.action === 'NONE' ? finding : { ...finding, action: 'BLOCK' as const })));
			if (match !== undefined) this.#block(match);
		}
	}

	#push({ segmentGroup: name, block, isJson, text }: StreamingText): SegmentPiece {
		const key = `${name === '' ? block : name} ${isJson}`;
		let segmentGroup = this.#segmentGroups.get(key);
		if (segmentGroup === undefined) {
			segmentGroup = this.#guardrails.bufferSegment(isJson, this.#inferenceRequest.team);
			this.#segmentGroups.set(key, segmentGroup);
		}
		return segmentGroup.push(block, text);
	}

	#endSegmentGroups({ ended, unreadable }: EventView): void {
		for (const begin of ended) {
			for (const [key, segmentGroup] of this.#segmentGroups) {
				if (key.startsWith(begin)) this.#endSegmentGroup(key, segmentGroup);
			}
		}
		if (unreadable.length > 0) this.#reject(unreadable);
	}

	/** Blocks unreadable content. Known kinds of content other than text pass if the configuration allows it; unparsable bytes never do. */
	#reject(unreadable: readonly Unreadable[]): void {
		if (this.#isOver) return;
		this.#unreadable.push(...unreadable);
		const { type } = unreadable[0] ?? unparsed;
		try {
			if (type !== ambiguous.type && type !== unparsed.type) this.#guardrailRunner.requireReadable('output', type);
			else this.#block({ policy: 'unreadable', category: type });
		} catch {
			this.#block({ policy: 'unreadable', category: type });
		}
	}

	#endSegmentGroup(key: string, segmentGroup: BufferedSegment): void {
		segmentGroup.end();
		if (segmentGroup.isBlocked) return;
		this.#segmentGroups.delete(key);
		this.#findings.push(...segmentGroup.findings);
	}

	/** @returns true if more can be written. */
	#release(): boolean {
		const leaving: StreamEvent[] = [];
		for (const { event, pieces } of this.#buffered) {
			if (!pieces.every(({ piece }) => piece.segmentGroup.canLeave(piece))) break;
			leaving.push(pieces.length === 0 ? event : shownTexts(event, pieces));
			this.#bufferedBytes -= event.bytes.length;
		}
		if (leaving.length === 0) return true;
		this.#buffered.splice(0, leaving.length);
		const events = EventBatch.ofEvents(leaving);
		this.#errorEnding?.push(events.bytes);
		return this.#sink?.write(events) ?? true;
	}

	#blockIfViolated(): void {
		for (const segmentGroup of this.#segmentGroups.values()) {
			if (!segmentGroup.isBlocked) continue;
			const finding = segmentGroup.findings.find(({ action }) => action === 'BLOCK');
			if (finding !== undefined) this.#block(finding);
			return;
		}
	}

	#blockUnread(): void {
		this.#unreadable.push({ role: 'assistant', type: 'too_long', path: [] });
		this.#block({ policy: 'unreadable', category: 'too_long' });
	}

	#block(finding: Pick<Finding, 'category'> & { readonly policy: string }): void {
		if (this.#isOver) return;
		this.#finish();
		this.#buffered.length = 0;
		const rejection = blocked('output', finding);
		const sink = this.#sink;
		sink?.write(errorEvent(this.#format, describeFailure(rejection, this.#inferenceRequest.requestId), this.#errorEnding));
		// Later events of the relay are discarded.
		this.#relay.fail(rejection);
		this.#recorder.report(rejection.code);
		sink?.end();
	}

	#finish(): void {
		if (this.#isOver) return;
		this.#isOver = true;
		const findings = [...this.#findings, ...[...this.#segmentGroups.values()].flatMap((segmentGroup) => segmentGroup.findings)];
		this.#guardrailRunner.report(this.#inferenceRequest, 'output', findings, { unreadable: this.#unreadable });
	}
}

/** Returns the event with masked text replaced; the same object if there is none. */
function shownTexts(event: StreamEvent, pieces: readonly BufferedPiece[]): StreamEvent {
	const changes: (readonly [ViewedText, string])[] = [];
	for (const { viewed, piece } of pieces) {
		const text = piece.segmentGroup.visible(piece);
		if (text !== piece.text) changes.push([viewed, text]);
	}
	if (changes.length === 0) return event;
	const json = Buffer.from(event.data ?? '');
	const lines = spliceBody(json, maskEdits(json, event.json(), changes))
		.toString()
		.split('\n');
	const name = event.name === '' ? '' : `event: ${event.name}\n`;
	return StreamEvent.ofText(`${name}${lines.map((line) => `data: ${line}\n`).join('')}\n`);
}
