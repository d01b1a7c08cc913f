import { endedRetentionMs } from '../contracts/admission.ts';

const rows = 2 ** 14;
const slotsPerRow = 16;

/**
 * Ids of requests that ended in the last fifteen minutes; beyond 100,000 the oldest may be dropped. Tables of 64-bit hashes take 3 MB at
 * any load. A map of ids would hold millions after minutes of load, and block the thread whenever it grows. The first halves of a row fill
 * one cache line, so that a new request costs one memory access.
 */
export class EndedRequests {
	private readonly firsts = new Uint32Array(rows * slotsPerRow);
	private readonly seconds = new Uint32Array(rows * slotsPerRow);
	/** Unix seconds; 0 for an empty slot. */
	private readonly ends = new Uint32Array(rows * slotsPerRow);
	/** Index of the oldest slot of each row, which is overwritten next. */
	private readonly oldest = new Uint8Array(rows);
	private first = 0;
	private second = 0;

	has(team: string, id: string, nowMs: number): boolean {
		this.mark(team, id);
		return this.isMarked(nowMs);
	}

	/** @returns true if the request is new here. */
	add(team: string, id: string, nowMs: number): boolean {
		this.mark(team, id);
		if (this.isMarked(nowMs)) return false;
		const row = this.first % rows;
		const oldest = this.oldest[row] ?? 0;
		const slot = row * slotsPerRow + oldest;
		this.firsts[slot] = this.first;
		this.seconds[slot] = this.second;
		this.ends[slot] = secondOf(nowMs);
		this.oldest[row] = (oldest + 1) % slotsPerRow;
		return true;
	}

	clear(): void {
		this.ends.fill(0);
	}

	/** Computes two FNV-1a hashes with the finalizer of MurmurHash3. */
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

	private isMarked(nowMs: number): boolean {
		const { firsts, seconds, ends, first, second } = this;
		const row = (first % rows) * slotsPerRow;
		for (let slot = row; slot < row + slotsPerRow; slot++) {
			if (firsts[slot] !== first || seconds[slot] !== second) continue;
			if (secondOf(nowMs) - (ends[slot] ?? 0) < endedRetentionMs / 1000) return true;
		}
		return false;
	}
}

function secondOf(ms: number): number {
	return Math.floor(ms / 1000);
}

function mixed(hash: number): number {
	let mixing = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
	mixing = Math.imul(mixing ^ (mixing >>> 13), 0xc2b2ae35);
	return (mixing ^ (mixing >>> 16)) >>> 0;
}
