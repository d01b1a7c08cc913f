/**
 * How far a text has come in a pattern's matches. The engine tells of whole matches only; its compiled program also tells what more
 * text could make. The program is run as an automaton whose states are made when they are first needed.
 */
import type { RE2JS } from 're2js';

/** Of the engine's program: `out` and `arg` are where it goes on. */
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
	/** Instructions that wait for a character, those of a match that begins here among them. */
	readonly waiting: readonly number[];
	/** A match that began before may go on. */
	readonly isOpen: boolean;
	/** A match may have ended. */
	readonly isMatch: boolean;
	readonly next: Map<number, State>;
}

/** States and their transitions that are remembered; beyond, they are made anew. */
const mostRemembered = 5000;

export interface Progress {
	/** Whether the text may hold a match: where not, there is none. */
	readonly mayMatch: boolean;
	/** Nothing that begins before can still become a match, or another one. */
	readonly openFrom: number;
}

export class PatternProgress {
	readonly #program: readonly Instruction[];
	readonly #first: number;
	readonly #states = new Map<string, State>();
	#remembered = 0;
	#idle: State;

	constructor(compiled: RE2JS) {
		const { inst, start } = compiled.re2Input.prog as Program;
		this.#program = inst;
		this.#first = start;
		this.#idle = this.#stateAfter([]);
	}

	read(text: string): Progress {
		let state = this.#idle;
		let mayMatch = state.isMatch;
		let openFrom = -1;
		for (let at = 0; at < text.length; at++) {
			const codePoint = text.codePointAt(at) ?? 0;
			state = state.next.get(codePoint) ?? this.#step(state, codePoint);
			mayMatch ||= state.isMatch;
			if (!state.isOpen) openFrom = -1;
			else if (openFrom === -1) openFrom = at;
			if (codePoint > 0xffff) at++;
		}
		return { mayMatch, openFrom: openFrom === -1 ? text.length : openFrom };
	}

	#step(state: State, codePoint: number): State {
		const after = this.#stateAfter(
			state.waiting.flatMap((at) => {
				const instruction = this.#program[at];
				return instruction !== undefined && takes(instruction, codePoint) ? [instruction.out] : [];
			}),
		);
		if (this.#remembered++ > mostRemembered) this.#forget();
		state.next.set(codePoint, after);
		return after;
	}

	#forget(): void {
		for (const state of this.#states.values()) state.next.clear();
		this.#states.clear();
		this.#remembered = 0;
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

	/** Goes on to where characters are waited for; what stands around a place is taken to be as the pattern wants it. */
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
