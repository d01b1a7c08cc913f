import { BytePieces } from '../../../core/byte-pieces.ts';
import type { ByteFlow, ByteSink, ByteStream } from '../../../core/handler.ts';
import type { Format } from '../../../wire/formats/format.ts';
import type { StreamedText, Unreadable, ViewedText } from '../../../wire/text-view.ts';
import { readEvents } from '../../../wire/translation/read-events.ts';
import type { GuardedCall, Guarding } from '../guarding.ts';
import { viewEvent, viewOtherFields } from './view-event.ts';

const nothing = Buffer.alloc(0);

/** Longer streams are looked at only so far, which is told. */
const mostBytes = 4 * 1024 * 1024;

/** What a stream's texts are shown to. */
export type ObservesTexts = Pick<Guarding, 'observe'>;

/** Passes a stream on untouched and looks at it when it is over. */
export class ObservedStream implements ByteStream {
	readonly #source: ByteStream;
	readonly #format: Format;
	readonly #call: GuardedCall;
	readonly #observer: ObservesTexts;
	readonly #pieces = new BytePieces();
	#length = 0;

	readonly #isOpaque: boolean;

	/** @param isOpaque the bytes are compressed, and cannot be read. */
	constructor(source: ByteStream, format: Format, call: GuardedCall, observer: ObservesTexts, isOpaque = false) {
		this.#source = source;
		this.#format = format;
		this.#call = call;
		this.#observer = observer;
		this.#isOpaque = isOpaque;
	}

	start(sink: ByteSink): ByteFlow {
		const flow = this.#source.start({
			write: (chunk) => {
				this.#keep(chunk);
				return sink.write(chunk);
			},
			end: () => {
				sink.end();
				this.#observe();
			},
			fail: (cause) => {
				sink.fail(cause);
				this.#observe();
			},
		});
		return {
			resume: () => flow.resume(),
			cancel: () => {
				flow.cancel();
				this.#observe();
			},
		};
	}

	#keep(chunk: Buffer): void {
		if (this.#length < mostBytes) this.#pieces.push(chunk);
		this.#length += chunk.length;
	}

	#observe(): void {
		if (this.#pieces.length === 0) return;
		const blocks = new Map<string, StreamedText>();
		const unreadable: Unreadable[] = [];
		if (this.#isOpaque) unreadable.push({ role: 'assistant', type: 'body', path: [] });
		if (this.#length > mostBytes) unreadable.push({ role: 'assistant', type: 'too_long', path: [] });
		const bytes = this.#isOpaque ? nothing : this.#pieces.take();
		readEvents(bytes, (data) => {
			const view = viewEvent(data, this.#format);
			if (view === undefined) return;
			unreadable.push(...view.unreadable);
			for (const piece of view.texts) {
				const key = `${piece.block} ${piece.isJson}`;
				const before = blocks.get(key);
				blocks.set(key, before === undefined ? piece : { ...before, text: before.text + piece.text });
			}
		});
		const others = viewOtherFields(bytes).texts.map(asViewed);
		this.#observer.observe(this.#call, 'output', { texts: [...blocks.values(), ...others], unreadable });
	}
}

function asViewed(text: string): ViewedText {
	return { text, isJson: false, isValue: false, role: 'assistant', part: 'other', path: [], thread: '' };
}
