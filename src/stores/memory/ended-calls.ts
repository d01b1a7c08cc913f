import { rememberEndedMs } from '../contracts/admission.ts';

const rows = 2 ** 14;
const placesPerRow = 16;
/** Two halves of a mark, and the second of the end, Unix; 0 where none is. */
const numbersPerPlace = 3;
const numbersPerRow = placesPerRow * numbersPerPlace;

/**
 * Which calls have ended, of the last fifteen minutes; of more than 100,000 the oldest may be forgotten. It takes 3 MB whatever comes: a
 * table of marks of 64 bits instead of a map of ids, which would hold millions after minutes of load and stop the thread as it grows.
 */
export class EndedCalls {
	private readonly table = new Uint32Array(rows * numbersPerRow);
	private first = 0;
	private second = 0;

	has(team: string, id: string, nowMs: number): boolean {
		this.mark(team, id);
		return this.isMarked(nowMs);
	}

	/** @returns whether the call is new here. */
	add(team: string, id: string, nowMs: number): boolean {
		this.mark(team, id);
		if (this.isMarked(nowMs)) return false;
		const { table } = this;
		const row = this.row();
		let oldest = row;
		for (let place = row; place < row + numbersPerRow; place += numbersPerPlace) {
			if (endOf(table, place) < endOf(table, oldest)) oldest = place;
		}
		table[oldest] = this.first;
		table[oldest + 1] = this.second;
		table[oldest + 2] = secondOf(nowMs);
		return true;
	}

	clear(): void {
		this.table.fill(0);
	}

	/** Two hashes after FNV-1a, mixed as at the end of MurmurHash3. */
	private mark(team: string, id: string): void {
		let first = 0x811c9dc5;
		let second = 0x9e3779b9;
		for (let index = 0; index < id.length; index++) {
			const unit = id.charCodeAt(index);
			first = Math.imul(first ^ unit, 0x01000193);
			second = Math.imul(second ^ unit, 0x27d4eb2f);
		}
		for (let index = 0; index < team.length; index++) {
			const unit = team.charCodeAt(index) | 0x10000;
			first = Math.imul(first ^ unit, 0x01000193);
			second = Math.imul(second ^ unit, 0x27d4eb2f);
		}
		this.first = mixed(first);
		this.second = mixed(second);
	}

	private row(): number {
		return (this.first % rows) * numbersPerRow;
	}

	private isMarked(nowMs: number): boolean {
		const { table, first, second } = this;
		const row = this.row();
		for (let place = row; place < row + numbersPerRow; place += numbersPerPlace) {
			if (table[place] !== first || table[place + 1] !== second) continue;
			if (secondOf(nowMs) - endOf(table, place) < rememberEndedMs / 1000) return true;
		}
		return false;
	}
}

function endOf(table: Uint32Array, place: number): number {
	return table[place + 2] ?? 0;
}

function secondOf(ms: number): number {
	return Math.floor(ms / 1000);
}

function mixed(hash: number): number {
	let mixing = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
	mixing = Math.imul(mixing ^ (mixing >>> 13), 0xc2b2ae35);
	return (mixing ^ (mixing >>> 16)) >>> 0;
}
