import type { EventBatch } from '../events/event-batch.ts';
import { type KeyScan, skipSpace } from './key-scan.ts';

const comma = 0x2c;
const closeBrace = 0x7d;
const openBrace = 0x7b;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const space = 0x20;
const firstOfNull = 0x6e;

/** Removes the usage that the gateway, not the client, asked for from a stream: members `usage`, and whole events without other content. */
export class InjectedUsageStripper {
	/** Index of the list's name in the scan; names after it keep an event. */
	readonly #listName: number;
	/** Alternating starts and ends, ascending. */
	readonly #cuts: number[] = [];
	#eventStart = 0;
	/** Offset of the line's member `usage`. */
	#keyStart = -1;
	#valueEnd = -1;
	#reportsUsage = false;
	#isListEmpty = false;
	#shouldStay = false;
	#isDropped = false;
	/** The removed part ended with CR at the very end of a batch: a leading LF in the next one belongs to it. */
	#owesLineFeed = false;

	constructor(listName: number) {
		this.#listName = listName;
	}

	/** Handles a member `usage`; only one at the top level was requested by the gateway. */
	addUsage(bytes: Buffer, scan: KeyScan): void {
		const { depth, keyStart, valueStart } = scan;
		if (depth !== 1) return;
		const isObject = bytes[valueStart] === openBrace;
		if (!isObject && bytes[valueStart] !== firstOfNull) return;
		this.#reportsUsage = isObject;
		this.#keyStart = keyStart;
		this.#valueEnd = isObject ? scan.valueEnd() : valueStart + 'null'.length;
	}

	/** Handles a member that decides about its event. */
	addOther(bytes: Buffer, { depth, name, valueStart }: KeyScan): void {
		if (depth !== 1) return;
		if (name !== this.#listName) this.#shouldStay = true;
		else if (bytes[valueStart] === openBracket) this.#isListEmpty = bytes[skipSpace(bytes, valueStart + 1, bytes.length)] === closeBracket;
	}

	endLine(bytes: Buffer, end: number): void {
		if (this.#reportsUsage && this.#isListEmpty && !this.#shouldStay) this.#isDropped = true;
		else if (this.#keyStart !== -1 && this.#valueEnd !== -1) this.#cutMember(bytes, end);
		this.#keyStart = -1;
		this.#reportsUsage = false;
		this.#isListEmpty = false;
		this.#shouldStay = false;
	}

	/** @param end offset after the empty line. */
	endEvent(end: number): void {
		if (this.#isDropped || (this.#owesLineFeed && end === 1)) {
			while ((this.#cuts.at(-1) ?? 0) > this.#eventStart) this.#cuts.length -= 2;
			this.#cuts.push(this.#eventStart, end);
		}
		this.#isDropped = false;
		this.#eventStart = end;
	}

	/** @returns the events without the removed parts; the same batch if there are none. */
	apply(events: EventBatch): EventBatch {
		const { length } = events.bytes;
		// The last event of a stream may lack its empty line.
		if (this.#isDropped) this.endEvent(length);
		this.#owesLineFeed = this.#cuts.at(-1) === length + 1;
		if (this.#owesLineFeed) this.#cuts[this.#cuts.length - 1] = length;
		this.#eventStart = 0;
		if (this.#cuts.length === 0) return events;
		const retained = events.without(this.#cuts);
		this.#cuts.length = 0;
		return retained;
	}

	/** Removes the member, and the one comma that separates it. */
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
