import { Arena } from '../../../core/byte-pieces.ts';
import type { ByteFlow } from '../../../core/handler.ts';
import type { ClientDialect, ErrorEnding } from '../../../wire/dialects/dialect.ts';
import { EventBatch } from '../../../wire/events/event-batch.ts';
import type { StreamEvent } from '../../../wire/events/stream-event.ts';
import type { TextView } from '../../../wire/text-view.ts';
import { describeFailure } from '../failure.ts';
import { blocked, type GuardedRequest, type GuardrailRunner } from '../guardrail-runner.ts';
import type { Violation } from '../moderation/moderation-dispatcher.ts';
import type { RequestRecorder } from '../request-scope/request-recorder.ts';
import { BlockingGuard } from './blocking-guard.ts';
import { type EventSink, type EventSource, errorEvent, heartbeatEvent } from './event-source.ts';
import type { StreamRelay } from './stream-relay.ts';
import { viewOtherFields } from './view-event.ts';

/** A piece ends at the first sentence end after `pieceCharacters`, and at the latest after `maxPieceCharacters`. */
const pieceCharacters = 400;
const maxPieceCharacters = 1000;
/** Overlap with the previous piece, so that a match across two pieces is found. */
const repeatedCharacters = 200;
/** Buffer limit, at which the provider is paused during an evaluation. */
const maxBufferedBytes = 256 * 1024;

const sentenceEnd = /[.!?。！？\n]["')\]]?\s*$/;

/** Key of the block for fields next to the data. */
const otherFields = 'fields';

interface Block {
	/** End of the text that was evaluated. */
	before: string;
	unevaluated: string;
}

/**
 * Buffers a stream under enforcement until moderation providers have evaluated it, piece by piece, with the remainder before its last event.
 * The built-in guardrails screen the text first.
 */
export class ModeratedGuard implements EventSource, EventSink, ByteFlow {
	readonly #relay: StreamRelay;
	readonly #evaluated: BlockingGuard;
	readonly #format: ClientDialect;
	readonly #errorEnding: ErrorEnding | undefined;
	readonly #inferenceRequest: GuardedRequest;
	readonly #guardrailRunner: GuardrailRunner;
	readonly #recorder: Pick<RequestRecorder, 'report'>;
	readonly #blocks = new Map<string, Block>();
	readonly #violations: Violation[] = [];
	readonly #disconnectListeners: (() => void)[] = [];
	/** Findings of the built-in guardrails. */
	#evaluation: { readonly violations: readonly Violation[]; readonly view: Pick<TextView, 'unreadable'> } | undefined;
	#buffered: StreamEvent[] = [];
	#bufferedBytes = 0;
	readonly #pages = new Arena();
	#unevaluatedCharacters = 0;
	#endsSentence = false;
	#isClassifying = false;
	/** Latest result of a write to the sink. */
	#canWrite = true;
	/** Set when the source has ended, with its error if any. */
	#ending: { readonly cause?: unknown } | undefined;
	#isOver = false;
	#flow: ByteFlow | undefined;
	#sink: EventSink | undefined;

	constructor(
		relay: StreamRelay,
		format: ClientDialect,
		inferenceRequest: GuardedRequest,
		guardrailRunner: GuardrailRunner,
		guardrails: ConstructorParameters<typeof BlockingGuard>[4],
		recorder: Pick<RequestRecorder, 'report'>,
	) {
		this.#relay = relay;
		this.#format = format;
		this.#errorEnding = format.followToError?.();
		this.#inferenceRequest = inferenceRequest;
		this.#guardrailRunner = guardrailRunner;
		this.#recorder = recorder;
		this.#evaluated = new BlockingGuard(
			relay,
			format,
			inferenceRequest,
			{
				requireReadable: (stage, type) => guardrailRunner.requireReadable(stage, type),
				// Reported together with the findings of moderation providers.
				report: (_call, _stage, violations, view) => {
					this.#evaluation = { violations, view };
				},
			},
			guardrails,
			recorder,
		);
	}

	start(sink: EventSink): ByteFlow {
		this.#sink = sink;
		this.#flow = this.#evaluated.start(this);
		return this;
	}

	resume(): void {
		this.#canWrite = true;
		if (this.#bufferedBytes < maxBufferedBytes) this.#flow?.resume();
	}

	cancel(): void {
		this.#flow?.cancel();
		for (const listener of this.#disconnectListeners) listener();
		this.#finish();
	}

	write(batch: EventBatch): boolean {
		if (this.#isOver) return true;
		for (const event of batch.events) {
			if (isComment(event)) this.#canWrite = this.#sink?.write(heartbeatEvent) ?? true;
			else this.#buffer(event);
		}
		this.#classifyWhenDue();
		return this.#canWrite && this.#bufferedBytes < maxBufferedBytes;
	}

	/** The built-in guardrails block such bytes. */
	writeOpaque(): boolean {
		return true;
	}

	end(): void {
		if (this.#isOver) return;
		this.#ending = {};
		this.#classifyWhenDue();
	}

	fail(cause: unknown): void {
		if (this.#isOver) return;
		this.#ending = { cause };
		this.#classifyWhenDue();
	}

	#buffer(event: StreamEvent): void {
		event.storeIn(this.#pages);
		this.#buffered.push(event);
		this.#bufferedBytes += event.bytes.length;
		const members = event.json();
		const texts = members === undefined ? [] : this.#format.textViews.event(members).texts;
		for (const { segmentGroup, block: name, isJson, text } of texts) {
			this.#await(`${segmentGroup === '' ? name : segmentGroup} ${isJson}`, text);
		}
		for (const text of viewOtherFields(event).texts) this.#await(otherFields, `${text}\n`);
	}

	#await(key: string, text: string): void {
		const block = this.#blockOf(key);
		block.unevaluated += text;
		this.#unevaluatedCharacters += text.length;
		this.#endsSentence = sentenceEnd.test(block.unevaluated.slice(-8));
	}

	#blockOf(key: string): Block {
		const known = this.#blocks.get(key);
		if (known !== undefined) return known;
		const block: Block = { before: '', unevaluated: '' };
		this.#blocks.set(key, block);
		return block;
	}

	#classifyWhenDue(): void {
		if (this.#isClassifying || this.#isOver) return;
		if (this.#unevaluatedCharacters === 0) {
			this.#pass(this.#buffered);
			return;
		}
		const isLong = this.#unevaluatedCharacters >= maxPieceCharacters;
		const isPiece = isLong || (this.#endsSentence && this.#unevaluatedCharacters >= pieceCharacters);
		if (isPiece || this.#ending !== undefined || this.#bufferedBytes >= maxBufferedBytes) this.#judge().catch(this.#failed);
	}

	/** Evaluates the current piece. Text that arrives meanwhile forms the next pieces. */
	async #judge(): Promise<void> {
		this.#isClassifying = true;
		// Streams of some formats repeat each text in later events.
		const texts = new Set<string>();
		for (const block of this.#blocks.values()) {
			if (block.unevaluated === '') continue;
			const text = block.before + block.unevaluated;
			texts.add(text);
			block.before = text.slice(-repeatedCharacters);
			block.unevaluated = '';
		}
		const events = this.#buffered;
		this.#buffered = [];
		this.#unevaluatedCharacters = 0;
		const { moderationProviders } = this.#guardrailRunner;
		const violations = await moderationProviders.evaluate(moderationProviders.stopping(this.#inferenceRequest.team), [...texts], 'output', {
			...this.#inferenceRequest,
			onClientDisconnect: (listener) => this.#disconnectListeners.push(listener),
		});
		this.#disconnectListeners.length = 0;
		this.#isClassifying = false;
		if (this.#isOver) return;
		for (const violation of violations) if (!this.#violations.some((known) => isSame(known, violation))) this.#violations.push(violation);
		const blocking = violations.find(({ action }) => action === 'BLOCK');
		if (blocking !== undefined) this.#block(blocking);
		else {
			this.#pass(events);
			this.#classifyWhenDue();
		}
	}

	/** @param events that were evaluated, or contain no text. */
	#pass(events: readonly StreamEvent[]): void {
		if (events === this.#buffered) this.#buffered = [];
		if (events.length > 0) {
			const batch = EventBatch.ofEvents(events);
			this.#bufferedBytes -= batch.bytes.length;
			this.#errorEnding?.push(batch.bytes);
			this.#canWrite = this.#sink?.write(batch) ?? true;
			if (this.#canWrite) this.#flow?.resume();
		}
		if (this.#ending === undefined || this.#buffered.length > 0 || this.#isOver) return;
		this.#finish();
		if ('cause' in this.#ending) this.#sink?.fail(this.#ending.cause);
		else this.#sink?.end();
	}

	#block(finding: Violation): void {
		this.#endWith(blocked('output', finding));
		this.#report();
	}

	/**
	 * Handles an internal error: unevaluated text does not pass, and findings of a part are not reported as those of the complete response.
	 */
	readonly #failed = (cause: unknown): void => {
		this.#guardrailRunner.failed(this.#inferenceRequest, 'output', cause);
		if (!this.#isOver) this.#endWith(cause);
	};

	#endWith(cause: unknown): void {
		this.#isOver = true;
		// Later events of the relay and the built-in guardrails are discarded.
		this.#relay.fail(cause);
		const error = describeFailure(cause, this.#inferenceRequest.requestId);
		this.#recorder.report(error.code);
		this.#sink?.write(errorEvent(this.#format, error, this.#errorEnding));
		this.#sink?.end();
	}

	#finish(): void {
		if (this.#isOver) return;
		this.#isOver = true;
		this.#report();
	}

	#report(): void {
		const { violations = [], view = { unreadable: [] } } = this.#evaluation ?? {};
		this.#guardrailRunner.report(this.#inferenceRequest, 'output', [...violations, ...this.#violations], view);
	}
}

/**
 * Returns true for an event of comments only. They keep a stream alive and cannot wait for an evaluation, so their content is not passed on.
 */
function isComment({ data, otherLines }: StreamEvent): boolean {
	return data === undefined && otherLines.length > 0 && otherLines.every((line) => line.startsWith(':'));
}

function isSame(one: Violation, other: Violation): boolean {
	return one.policy === other.policy && one.category === other.category && one.action === other.action;
}
