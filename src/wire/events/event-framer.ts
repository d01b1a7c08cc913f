import { BytePieces } from '../../core/byte-pieces.ts';
import { EventBatch } from './event-batch.ts';
import { EventBoundaries, type MarkLine } from './event-boundaries.ts';
import { StreamEvent } from './stream-event.ts';

/** What the end of a stream leaves of an event that has not ended. */
export interface LastEvent {
	/** The event, where only its empty line is missing. */
	readonly batch?: EventBatch;
	/** What was appended to make it one. */
	readonly appended?: Buffer;
	/** Length of half an event, which says nothing. */
	readonly droppedBytes: number;
}

/** Makes events of the bytes of a stream, however these were cut. The only place where that is done. */
export class EventFramer {
	readonly #boundaries: EventBoundaries;
	readonly #mark = new ByteOrderMarkFilter();
	/** The beginning of an event. */
	readonly #held = new BytePieces();

	constructor(markLine: MarkLine) {
		this.#boundaries = new EventBoundaries(markLine);
	}

	/** The event that ends a complete response was seen whole. */
	get isTerminated(): boolean {
		return this.#boundaries.isTerminated;
	}

	/** The provider reported an error in an event of its own. */
	get hasFailed(): boolean {
		return this.#boundaries.hasFailed;
	}

	/** Of an event that has not ended. */
	get heldBytes(): number {
		return this.#held.length;
	}

	/** @returns the events that ended in these bytes; undefined when none did. */
	push(bytes: Buffer): EventBatch | undefined {
		const chunk = this.#mark.push(bytes);
		const ends: number[] = [];
		const end = this.#boundaries.push(chunk, ends);
		if (end === 0) {
			if (chunk.length > 0) this.#held.push(chunk);
			return undefined;
		}
		const batch =
			this.#held.length === 0
				? EventBatch.ofBytes(end === chunk.length ? chunk : chunk.subarray(0, end), ends)
				: this.#join(chunk.subarray(0, end), ends);
		if (end < chunk.length) this.#held.push(chunk.subarray(end));
		return batch;
	}

	/** What is held, and is forgotten here. */
	takeHeld(): Buffer {
		return this.#held.take();
	}

	/** The stream has ended: its last event may lack the empty line. */
	end(): LastEvent {
		if (this.#held.length === 0) return { droppedBytes: 0 };
		const event = this.#held.take();
		const appended = missingEnd(event);
		if (appended === undefined) return { droppedBytes: event.length };
		this.#boundaries.push(appended, []);
		const bytes = Buffer.concat([event, appended]);
		return { batch: EventBatch.ofBytes(bytes, [bytes.length]), appended, droppedBytes: 0 };
	}

	#join(rest: Buffer, ends: readonly number[]): EventBatch {
		const before = this.#held.length;
		this.#held.push(rest);
		return EventBatch.ofBytes(
			this.#held.take(),
			ends.map((end) => end + before),
		);
	}
}

const mark = Buffer.from([0xef, 0xbb, 0xbf]);
const none = Buffer.alloc(0);

/**
 * Removes the byte order mark that a server may put before its first event. Clients differ in whether they ignore it or lose that event
 * (WHATWG HTML section 9.2.5 ignores it).
 */
export class ByteOrderMarkFilter {
	/** The first bytes of a mark, if it is one. */
	#pending: Buffer | undefined = none;

	/** @returns the chunk without a mark; nothing while fewer bytes have come than a mark has. */
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
 * @param event the rest of a stream that has ended.
 * @returns what to append to make it an event; undefined for half of one, or none.
 */
export function missingEnd(event: Buffer): Buffer | undefined {
	const read = StreamEvent.ofBytes(event);
	const isWhole = read.data?.trim() === '[DONE]' || read.value() !== undefined;
	if (!isWhole) return undefined;
	return event.at(-1) === lineFeed ? emptyLine : lineEndAndEmptyLine;
}
