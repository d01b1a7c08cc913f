import { StreamEvent } from './stream-event.ts';

/** Complete events that arrive together. They are extracted from the bytes only for a consumer that reads them. */
export class EventBatch {
	#bytes: Buffer | undefined;
	#events: readonly StreamEvent[] | undefined;
	#ends: readonly number[] | undefined;
	readonly #texts: readonly string[] | undefined;

	private constructor(
		bytes: Buffer | undefined,
		ends: readonly number[] | undefined,
		texts: readonly string[] | undefined,
		events: readonly StreamEvent[] | undefined,
	) {
		this.#bytes = bytes;
		this.#ends = ends;
		this.#texts = texts;
		this.#events = events;
	}

	/** @param ends of the events in the bytes, ascending; the last one is the length. */
	static ofBytes(bytes: Buffer, ends: readonly number[]): EventBatch {
		return new EventBatch(bytes, ends, undefined, undefined);
	}

	/** @param texts one for each event. */
	static ofTexts(texts: readonly string[]): EventBatch {
		return new EventBatch(undefined, undefined, texts, undefined);
	}

	static ofEvents(events: readonly StreamEvent[]): EventBatch {
		return new EventBatch(undefined, undefined, undefined, events);
	}

	get isEmpty(): boolean {
		return this.bytes.length === 0;
	}

	get bytes(): Buffer {
		return (this.#bytes ??= this.#texts === undefined ? joined(this.#events ?? []) : Buffer.from(this.#texts.join('')));
	}

	get events(): readonly StreamEvent[] {
		return (this.#events ??= this.#texts?.map((text) => StreamEvent.ofText(text)) ?? this.#cut());
	}

	/** @param cuts alternating starts and ends, ascending; none exceeds the end of its event. */
	without(cuts: readonly number[]): EventBatch {
		const { bytes } = this;
		const retained = Buffer.allocUnsafe(bytes.length);
		const ends: number[] = [];
		let length = 0;
		let from = 0;
		let next = 0;
		for (const end of this.#endsOf(bytes)) {
			for (; next < cuts.length && (cuts[next] ?? 0) < end; next += 2) {
				length += bytes.copy(retained, length, from, cuts[next]);
				from = cuts[next + 1] ?? 0;
			}
			length += bytes.copy(retained, length, from, end);
			from = Math.max(from, end);
			if (length > (ends.at(-1) ?? 0)) ends.push(length);
		}
		return EventBatch.ofBytes(retained.subarray(0, length), ends);
	}

	#cut(): readonly StreamEvent[] {
		const { bytes } = this;
		let start = 0;
		return this.#endsOf(bytes).map((end) => {
			const event = StreamEvent.ofBytes(bytes.subarray(start, end));
			start = end;
			return event;
		});
	}

	#endsOf(bytes: Buffer): readonly number[] {
		if (this.#ends === undefined) {
			let end = 0;
			this.#ends = this.#events?.map((event) => (end += event.bytes.length)) ?? [bytes.length];
		}
		return this.#ends;
	}
}

export const noEvents = EventBatch.ofEvents([]);

function joined(events: readonly StreamEvent[]): Buffer {
	const [first] = events;
	return first !== undefined && events.length === 1 ? first.bytes : Buffer.concat(events.map(({ bytes }) => bytes));
}
