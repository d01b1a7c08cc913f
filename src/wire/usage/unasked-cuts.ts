import type { EventBatch } from '../events/event-batch.ts';
import { type KeyScan, skipSpace } from './key-scan.ts';

const comma = 0x2c;
const closeBrace = 0x7d;
const openBrace = 0x7b;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const space = 0x20;
const firstOfNull = 0x6e;

/** What a stream has because we asked for usage, found event by event: members `usage`, and whole events that tell of nothing else. */
export class UnaskedCuts {
	/** Index of the scan's name for the list; those after it keep an event. */
	readonly #listName: number;
	/** Starts and ends, in turn and ascending. */
	readonly #cuts: number[] = [];
	#eventStart = 0;
	/** Of the line's member `usage`. */
	#keyStart = -1;
	#valueEnd = -1;
	#tellsUsage = false;
	#isListEmpty = false;
	#mustStay = false;
	#isDropped = false;
	/** What was dropped ended in CR at the very end of what came: an LF that comes next belongs to it. */
	#owesLineFeed = false;

	constructor(listName: number) {
		this.#listName = listName;
	}

	/** The scan has stopped at a member `usage`; one that is not at the top level is none of ours. */
	addUsage(bytes: Buffer, scan: KeyScan): void {
		const { depth, keyStart, valueStart } = scan;
		if (depth !== 1) return;
		const isObject = bytes[valueStart] === openBrace;
		if (!isObject && bytes[valueStart] !== firstOfNull) return;
		this.#tellsUsage = isObject;
		this.#keyStart = keyStart;
		this.#valueEnd = isObject ? scan.valueEnd() : valueStart + 'null'.length;
	}

	/** The scan has stopped at a member that decides about its event. */
	addOther(bytes: Buffer, { depth, name, valueStart }: KeyScan): void {
		if (depth !== 1) return;
		if (name !== this.#listName) this.#mustStay = true;
		else if (bytes[valueStart] === openBracket) this.#isListEmpty = bytes[skipSpace(bytes, valueStart + 1, bytes.length)] === closeBracket;
	}

	endLine(bytes: Buffer, end: number): void {
		if (this.#tellsUsage && this.#isListEmpty && !this.#mustStay) this.#isDropped = true;
		else if (this.#keyStart !== -1 && this.#valueEnd !== -1) this.#cutMember(bytes, end);
		this.#keyStart = -1;
		this.#tellsUsage = false;
		this.#isListEmpty = false;
		this.#mustStay = false;
	}

	/** @param end after the empty line. */
	endEvent(end: number): void {
		if (this.#isDropped || (this.#owesLineFeed && end === 1)) {
			while ((this.#cuts.at(-1) ?? 0) > this.#eventStart) this.#cuts.length -= 2;
			this.#cuts.push(this.#eventStart, end);
		}
		this.#isDropped = false;
		this.#eventStart = end;
	}

	/** @returns the events without what was found in them; the same batch when nothing was. */
	apply(events: EventBatch): EventBatch {
		const { length } = events.bytes;
		// The last event of a stream may lack its empty line.
		if (this.#isDropped) this.endEvent(length);
		this.#owesLineFeed = this.#cuts.at(-1) === length + 1;
		if (this.#owesLineFeed) this.#cuts[this.#cuts.length - 1] = length;
		this.#eventStart = 0;
		if (this.#cuts.length === 0) return events;
		const kept = events.without(this.#cuts);
		this.#cuts.length = 0;
		return kept;
	}

	/** Takes out the member, and the one comma that it is set off with. */
	#cutMember(bytes: Buffer, end: number): void {
		const next = skipSpace(bytes, this.#valueEnd, end);
		if (bytes[next] === comma) {
			this.#cuts.push(this.#keyStart, skipSpace(bytes, next + 1, end));
			return;
		}
		if (bytes[next] !== closeBrace) return;
		let before = this.#keyStart - 1;
		while (bytes[before] === space) before--;
		this.#cuts.push(bytes[before] === comma ? before : this.#keyStart, this.#valueEnd);
	}
}
