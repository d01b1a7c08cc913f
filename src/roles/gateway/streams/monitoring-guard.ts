import type { ByteFlow } from '../../../core/handler.ts';
import type { ClientDialect } from '../../../wire/dialects/dialect.ts';
import type { EventBatch } from '../../../wire/events/event-batch.ts';
import type { StreamingText, Unreadable, ViewedText } from '../../../wire/text-view.ts';
import type { GuardedRequest, GuardrailRunner } from '../guardrail-runner.ts';
import type { EventSink, EventSource } from './event-source.ts';
import { viewEvent, viewOtherFields } from './view-event.ts';

/** Maximum size to evaluate. A longer stream is evaluated in part, which is reported. */
const maxBytes = 4 * 1024 * 1024;

export type ObservesTexts = Pick<GuardrailRunner, 'observe'>;

/** Passes a stream through unchanged, and has its texts evaluated at the end. */
export class MonitoringGuard implements EventSource {
	readonly #source: EventSource;
	readonly #format: ClientDialect;
	readonly #inferenceRequest: GuardedRequest;
	readonly #observer: ObservesTexts;
	/** Texts by block. */
	readonly #texts = new Map<string, StreamingText & { readonly pieces: string[] }>();
	/** Texts of fields next to the data. */
	readonly #otherTexts: string[] = [];
	readonly #unreadable: Unreadable[] = [];
	#length = 0;
	#isOver = false;

	constructor(source: EventSource, format: ClientDialect, inferenceRequest: GuardedRequest, observer: ObservesTexts) {
		this.#source = source;
		this.#format = format;
		this.#inferenceRequest = inferenceRequest;
		this.#observer = observer;
	}

	start(sink: EventSink): ByteFlow {
		const flow = this.#source.start({
			write: (events) => {
				const canWrite = sink.write(events);
				this.#read(events);
				return canWrite;
			},
			writeOpaque: (bytes) => {
				this.#length += bytes.length;
				if (this.#unreadable.length === 0) this.#unreadable.push({ role: 'assistant', type: 'body', path: [] });
				return sink.writeOpaque(bytes);
			},
			// Before the end, with which the record of the request is complete. Observing only queues the texts.
			end: () => {
				this.#observe();
				sink.end();
			},
			fail: (cause) => {
				this.#observe();
				sink.fail(cause);
			},
		});
		return {
			resume: () => flow.resume(),
			cancel: () => {
				this.#observe();
				flow.cancel();
			},
		};
	}

	/** Called after the write, so that the client already has the bytes. */
	#read(batch: EventBatch): void {
		for (const event of batch.events) {
			if (this.#length > maxBytes) return;
			this.#length += event.bytes.length;
			this.#otherTexts.push(...viewOtherFields(event).texts);
			const view = viewEvent(event, this.#format);
			if (view === undefined) continue;
			this.#unreadable.push(...view.unreadable);
			for (const piece of view.texts) {
				const key = `${piece.block} ${piece.isJson}`;
				const known = this.#texts.get(key);
				if (known === undefined) this.#texts.set(key, { ...piece, pieces: [piece.text] });
				else known.pieces.push(piece.text);
			}
		}
	}

	#observe(): void {
		if (this.#length === 0 || this.#isOver) return;
		this.#isOver = true;
		if (this.#length > maxBytes) this.#unreadable.unshift({ role: 'assistant', type: 'too_long', path: [] });
		const texts = [...this.#texts.values()].map(({ pieces, ...text }) => ({ ...text, text: pieces.join('') }));
		this.#observer.observe(this.#inferenceRequest, 'output', {
			texts: [...texts, ...this.#otherTexts.map(asViewed)],
			unreadable: this.#unreadable,
		});
	}
}

function asViewed(text: string): ViewedText {
	return { text, isJson: false, isValue: false, role: 'assistant', part: 'other', isInstruction: false, path: [], segmentGroup: '' };
}
