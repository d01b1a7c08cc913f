/**
 * Generates text that a regular expression matches. Supports the constructs that schemas use, takes the shortest way, and does not run the
 * expression.
 */

type Piece =
	| { readonly kind: 'chars'; readonly chars: string }
	| { readonly kind: 'choice'; readonly options: readonly (readonly Repeated[])[] }
	| { readonly kind: 'anchor'; readonly isStart: boolean };

type Choice = Extract<Piece, { readonly kind: 'choice' }>;

interface Repeated {
	readonly piece: Piece;
	readonly min: number;
	readonly max: number;
}

const digits = '0123456789';
const lower = 'abcdefghijklmnopqrstuvwxyz';
const wordCharacters = `${lower}${lower.toUpperCase()}${digits}_`;
const printable = `${wordCharacters} !"#$%&'()*+,-./:;<=>?@[\\]^\`{|}~`;
const classes: Readonly<Record<string, string>> = { d: digits, w: wordCharacters, s: ' \t\n' };
const controls: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', f: '\f', v: '\v', 0: '\0' };
const maxDepth = 20;
const maxLength = 10_000;

/**
 * @param minLength, maxLength are respected if repetitions allow it.
 * @returns undefined for an expression with unsupported constructs: look-arounds, back references, properties of characters.
 */
export function fillPattern(pattern: string, minLength: number, maxPatternLength: number): string | undefined {
	const parsed = parse(pattern);
	if (parsed === undefined) return undefined;
	const min = Math.min(minLength, maxLength);
	const build = (extra: number): string => {
		let left = extra;
		const write = (sequence: readonly Repeated[]): string =>
			sequence
				.map(({ piece, min: minCount, max }) => {
					const added = Math.min(left, max - minCount);
					left -= added;
					return Array.from({ length: minCount + added }, () => writePiece(piece)).join('');
				})
				.join('');
		const writePiece = (piece: Piece): string => {
			if (piece.kind === 'anchor') return '';
			return piece.kind === 'chars' ? piece.chars.charAt(0) : write(piece.options[0] ?? []);
		};
		return write(parsed.sequence);
	};
	let text = build(0);
	for (let extra = 1; text.length < min && extra <= min; extra = Math.max(extra + 1, extra + min - text.length)) {
		const longer = build(extra);
		if (longer.length > maxPatternLength) break;
		text = longer;
	}
	if (text.length >= min) return text;
	const padding = 'x'.repeat(min - text.length);
	if (!parsed.endsAtAnchor) return text + padding;
	return parsed.startsAtAnchor ? text : padding + text;
}

interface Parsed {
	readonly sequence: readonly Repeated[];
	readonly startsAtAnchor: boolean;
	readonly endsAtAnchor: boolean;
}

class Unsupported extends Error {}

function parse(pattern: string): Parsed | undefined {
	try {
		const [sequence = []] = new PatternReader(pattern).readAll().options;
		const isAnchor = (repeated: Repeated | undefined, isStart: boolean): boolean =>
			repeated?.piece.kind === 'anchor' && repeated.piece.isStart === isStart;
		return { sequence, startsAtAnchor: isAnchor(sequence[0], true), endsAtAnchor: isAnchor(sequence.at(-1), false) };
	} catch (cause) {
		if (cause instanceof Unsupported) return undefined;
		throw cause;
	}
}

class PatternReader {
	readonly #pattern: string;
	#at = 0;

	constructor(pattern: string) {
		this.#pattern = pattern;
	}

	/** @throws Unsupported. */
	readAll(): Choice {
		const choice = this.#readChoice(0);
		return this.#at < this.#pattern.length ? this.#fail() : choice;
	}

	#fail(): never {
		throw new Unsupported(this.#pattern);
	}

	#next(): string {
		return this.#pattern[this.#at++] ?? this.#fail();
	}

	#peek(ahead = 0): string | undefined {
		return this.#pattern[this.#at + ahead];
	}

	#readChoice(depth: number): Choice {
		if (depth > maxDepth) this.#fail();
		const options: Repeated[][] = [[]];
		while (this.#at < this.#pattern.length && this.#peek() !== ')') {
			if (this.#peek() === '|') {
				this.#at++;
				options.push([]);
				continue;
			}
			const piece = this.#readPiece(depth);
			options.at(-1)?.push({ piece, ...this.#readCount() });
		}
		return { kind: 'choice', options };
	}

	#readPiece(depth: number): Piece {
		const character = this.#next();
		switch (character) {
			case '^':
			case '$':
				return { kind: 'anchor', isStart: character === '^' };
			case '.':
				return { kind: 'chars', chars: lower };
			case '[':
				return { kind: 'chars', chars: this.#readClass() };
			case '(':
				return this.#readGroup(depth);
			case '\\':
				return { kind: 'chars', chars: this.#readEscape() };
			case '*':
			case '+':
			case '?':
				return this.#fail();
			default:
				return { kind: 'chars', chars: character };
		}
	}

	#readGroup(depth: number): Piece {
		if (this.#peek() === '?') {
			const opening = /^\?(?::|<[A-Za-z_$][\w$]*>)/.exec(this.#pattern.slice(this.#at, this.#at + 200));
			if (opening === null) return this.#fail();
			this.#at += opening[0].length;
		}
		const choice = this.#readChoice(depth + 1);
		return this.#next() === ')' ? choice : this.#fail();
	}

	#readEscape(): string {
		const character = this.#next();
		const set = classes[character];
		if (set !== undefined) return set;
		const inverted = classes[character.toLowerCase()];
		if (inverted !== undefined) return without(printable, inverted);
		if (character === 'x' || character === 'u') {
			const [code = ''] = /^(?:[0-9a-fA-F]{4}|\{[0-9a-fA-F]{1,5}\}|[0-9a-fA-F]{2})/.exec(this.#pattern.slice(this.#at, this.#at + 8)) ?? [];
			if (code === '') return this.#fail();
			const digitsOnly = character === 'x' ? code.slice(0, 2) : code;
			this.#at += digitsOnly.length;
			return String.fromCodePoint(Number.parseInt(digitsOnly.replace(/[{}]/g, ''), 16));
		}
		if (/[1-9bBpPkc]/.test(character)) return this.#fail();
		return controls[character] ?? character;
	}

	#readClass(): string {
		const isInverted = this.#peek() === '^';
		if (isInverted) this.#at++;
		let chars = '';
		while (this.#at < this.#pattern.length && this.#peek() !== ']') {
			const first = this.#readClassCharacter();
			if (this.#peek() === '-' && this.#peek(1) !== ']' && first.length === 1) {
				this.#at++;
				chars += rangeOf(first, this.#readClassCharacter());
			} else {
				chars += first;
			}
		}
		if (this.#next() !== ']') this.#fail();
		const chosen = isInverted ? without(printable, chars) : chars;
		return chosen === '' ? this.#fail() : chosen;
	}

	#readClassCharacter(): string {
		const character = this.#next();
		if (character !== '\\') return character;
		if (this.#peek() !== 'b') return this.#readEscape();
		this.#at++;
		return '\b';
	}

	#readCount(): { min: number; max: number } {
		const counted = /^(?:[*+?]|\{(\d{1,5})(,(\d{0,5}))?\})\??/.exec(this.#pattern.slice(this.#at, this.#at + 20));
		if (counted === null) return { min: 1, max: 1 };
		this.#at += counted[0].length;
		const sign = counted[0].charAt(0);
		if (sign === '*') return { min: 0, max: maxLength };
		if (sign === '+') return { min: 1, max: maxLength };
		if (sign === '?') return { min: 0, max: 1 };
		const min = Number(counted[1]);
		if (counted[2] === undefined) return { min, max: min };
		return { min, max: counted[3] === '' ? maxLength : Number(counted[3]) };
	}
}

function without(set: string, excluded: string): string {
	return Array.from(set)
		.filter((character) => !excluded.includes(character))
		.join('');
}

function rangeOf(first: string, last: string): string {
	const from = first.codePointAt(0) ?? 0;
	const to = Math.min(last.codePointAt(0) ?? 0, from + 255);
	return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => String.fromCodePoint(from + index)).join('');
}
