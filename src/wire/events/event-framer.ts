import { BytePieces } from '../../core/byte-pieces.ts';
import { EventBatch } from './event-batch.ts';
import { EventBoundaries, type MarkLine } from './event-boundaries.ts';
import { StreamEvent } from './stream-event.ts';

/** Remainder of a stream after its last complete event. */
export interface LastEvent {
	/** The last event, if it lacks only its empty line. */
	readonly batch?: EventBatch;
	/** Bytes that were appended to complete it. */
	readonly appended?: Buffer;
	/** Length of an incomplete event, which is dropped. */
	readonly droppedBytes: number;
}

/** Splits the bytes of a stream into events, however they arrive. The only place that does so. */
export class EventFramer {
	readonly #boundaries: EventBoundaries;
	readonly #mark = new ByteOrderMarkFilter();
	readonly #buffered = new BytePieces();

	constructor(markLine: MarkLine) {
		this.#boundaries = new EventBoundaries(markLine);
	}

	/** True once the terminal event of a complete response was read completely. */
	get isTerminated(): boolean {
		return this.#boundaries.isTerminated;
	}

	/** True once the provider reported an error in a separate event. */
	get hasFailed(): boolean {
		return this.#boundaries.hasFailed;
	}

	/** Length of the incomplete event. */
	get bufferedBytes(): number {
		return this.#buffered.length;
	}

	/** @returns the events that ended in these bytes; undefined if none did. */
	push(bytes: Buffer): EventBatch | undefined {
		const chunk = this.#mark.push(bytes);
		const ends: number[] = [];
		const end = this.#boundaries.push(chunk, ends);
		if (end === 0) {
			if (chunk.length > 0) this.#buffered.push(chunk);
			return undefined;
		}
		const batch =
			this.#buffered.length === 0
				? EventBatch.ofBytes(end === chunk.length ? chunk : chunk.subarray(0, end), ends)
				: this.#join(chunk.subarray(0, end), ends);
		if (end < chunk.length) this.#buffered.push(chunk.subarray(end));
		return batch;
	}

	/** Returns the buffered bytes and clears them. */
	takeBuffered(): Buffer {
		return this.#buffered.take();
	}

	/** Handles the end of the stream: its last event may lack the empty line. */
	end(): LastEvent {
		if (this.#buffered.length === 0) return { droppedBytes: 0 };
		const event = this.#buffered.take();
		const appended = missingEnd(event);
		if (appended === undefined) return { droppedBytes: event.length };
		this.#boundaries.push(appended, []);
		const bytes = Buffer.concat([event, appended]);
		return { batch: EventBatch.ofBytes(bytes, [bytes.length]), appended, droppedBytes: 0 };
	}

	#join(rest: Buffer, ends: readonly number[]): EventBatch {
		const before = this.#buffered.length;
		this.#buffered.push(rest);
		return EventBatch.ofBytes(
			this.#buffered.take(),
			ends.map((end) => end + before),
		);
	}
}

const mark = Buffer.from([0xef, 0xbb, 0xbf]);
const none = Buffer.alloc(0);

/**
 * Removes the byte order mark that a server may put before its first event. Some clients ignore it (WHATWG HTML section 9.2.5), others lose
 * that event.
 */
export class ByteOrderMarkFilter {
	/** First bytes that may belong to a byte order mark. */
	#pending: Buffer | undefined = none;

	/** @returns the chunk without a mark; empty until as many bytes as a mark have arrived. */
	push(chunk: Buffer): Buffer {
		if (this.#pending === undefined) return chunk;
		if (this.#pending.length === 0 && chunk.length > 0 && chunk[0] !== mark[0]) {
			this.#pending = undefined;
			return chunk;
		}
		const bytes = Buffer.concat([this.#pending, chunk]);
		if (bytes.length < mark.length && mark.subarray(0, bytes.length).equals(bytes)) {
			this.#pending = bytes;
			return none;
		}
		this.#pending = undefined;
		return bytes.subarray(0, mark.length).equals(mark) ? bytes.subarray(mark.length) : bytes;
	}
}

const emptyLine = Buffer.from('\n');
const lineEndAndEmptyLine = Buffer.from('\n\n');
const lineFeed = 0x0a;

/**
 * Some servers end a stream without the empty line after its last event.
 * @param event the remainder of a stream that has ended.
 * @returns the bytes that complete the event; undefined for an incomplete one, or none.
 */
export function missingEnd(event: Buffer): Buffer | undefined {
	const read = StreamEvent.ofBytes(event);
	const isWhole = read.data?.trim() === '[DONE]' || read.value() !== undefined;
	if (!isWhole) return undefined;
	return event.at(-1) === lineFeed ? emptyLine : lineEndAndEmptyLine;
}
