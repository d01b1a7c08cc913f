/**
 * Tracks partial matches of a pattern. RE2 reports complete matches only, but its compiled program also shows which matches more text could
 * complete. The program runs as an automaton whose states are created on demand.
 */
import type { RE2JS } from 're2js';

/** Instruction of RE2's program, which continues at `out` and `arg`. */
interface Instruction {
	readonly op: number;
	readonly out: number;
	readonly arg: number;
	matchRune(codePoint: number): boolean;
}

interface Program {
	readonly inst: readonly Instruction[];
	readonly start: number;
}

const alternative = 1;
const alternativeMatch = 2;
const assertion = 4;
const fail = 5;
const match = 6;
const firstRune = 8;
const anyRune = 10;
const anyButNewline = 11;
const newline = 0x0a;

interface State {
	/** Instructions that wait for a character, including those of a match that begins here. */
	readonly waiting: readonly number[];
	/** Tells whether an earlier match can continue. */
	readonly isOpen: boolean;
	/** Tells whether a match can end here. */
	readonly isMatch: boolean;
	readonly next: Map<number, State>;
}

/** Maximum number of cached transitions; beyond it all states are dropped and computed again. */
const maxCached = 5000;

export interface Progress {
	/** Tells whether the text can have a match; false is certain. */
	readonly canMatch: boolean;
	/** Offset before which no text can become another match. */
	readonly openFrom: number;
}

export class PatternProgress {
	readonly #program: readonly Instruction[];
	readonly #first: number;
	readonly #states = new Map<string, State>();
	#cached = 0;
	#idle: State;

	constructor(compiled: RE2JS) {
		const { inst, start } = compiled.re2Input.prog as Program;
		this.#program = inst;
		this.#first = start;
		this.#idle = this.#stateAfter([]);
	}

	read(text: string): Progress {
		let state = this.#idle;
		let canMatch = state.isMatch;
		let openFrom = -1;
		for (let at = 0; at < text.length; at++) {
			const codePoint = text.codePointAt(at) ?? 0;
			state = state.next.get(codePoint) ?? this.#step(state, codePoint);
			canMatch ||= state.isMatch;
			if (!state.isOpen) openFrom = -1;
			else if (openFrom === -1) openFrom = at;
			if (codePoint > 0xffff) at++;
		}
		return { canMatch, openFrom: openFrom === -1 ? text.length : openFrom };
	}

	#step(state: State, codePoint: number): State {
		const after = this.#stateAfter(
			state.waiting.flatMap((at) => {
				const instruction = this.#program[at];
				return instruction !== undefined && takes(instruction, codePoint) ? [instruction.out] : [];
			}),
		);
		if (this.#cached++ > maxCached) this.#forget();
		state.next.set(codePoint, after);
		return after;
	}

	#forget(): void {
		for (const state of this.#states.values()) state.next.clear();
		this.#states.clear();
		this.#cached = 0;
		this.#idle = this.#stateAfter([]);
	}

	#stateAfter(reached: readonly number[]): State {
		const waiting = new Set<number>();
		const seen = new Set<number>();
		const ends = this.#reach(reached, waiting, seen);
		const isOpen = waiting.size > 0 || ends.isAsserted;
		const begins = this.#reach([this.#first], waiting, seen);
		const isMatch = ends.isMatch || begins.isMatch;
		const sorted = [...waiting].toSorted((one, other) => one - other);
		const key = `${isOpen} ${isMatch} ${sorted.join(' ')}`;
		const known = this.#states.get(key);
		if (known !== undefined) return known;
		const state = { waiting: sorted, isOpen, isMatch, next: new Map() };
		this.#states.set(key, state);
		return state;
	}

	/** Follows instructions up to those that wait for a character. Assertions about the context are assumed to hold. */
	#reach(from: readonly number[], waiting: Set<number>, seen: Set<number>): { readonly isMatch: boolean; readonly isAsserted: boolean } {
		const stack = [...from];
		let isMatch = false;
		let isAsserted = false;
		for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
			const instruction = this.#program[at];
			if (instruction === undefined || seen.has(at)) continue;
			seen.add(at);
			const { op, out, arg } = instruction;
			if (op >= firstRune && op <= anyButNewline) {
				waiting.add(at);
			} else if (op === match) {
				isMatch = true;
			} else if (op !== fail) {
				if (op === assertion) isAsserted = true;
				if (op === alternative || op === alternativeMatch) stack.push(arg);
				stack.push(out);
			}
		}
		return { isMatch, isAsserted };
	}
}

function takes(instruction: Instruction, codePoint: number): boolean {
	if (instruction.op === anyRune) return true;
	return instruction.op === anyButNewline ? codePoint !== newline : instruction.matchRune(codePoint);
}
