/**
 * Finds numbers whose groups are separated by anything but letters: two spaces, a new line, `_`, `/`, brackets, Markdown syntax. Detects
 * only kinds with a check digit or a strict format: cards, social security numbers, numbers after `+`.
 */
import { isListedCard, isSsn, maxCardLength, minCardLength } from './account-numbers.ts';
import { extensionEnd, isLabelledSsn } from './labels.ts';
import type { DigitGroup } from './number-run.ts';
import { isPhone, maxPhoneDigits, minPhoneDigits } from './phone.ts';
import type { PiiKind, PiiMatch } from './pii-kind.ts';
import { isAlphanumeric, isSignAt } from './signs.ts';

/** Maximum distance between two groups. */
export const maxGapLength = 16;
/** Maximum total length, which limits the text that a stream holds back. */
const maxSpreadLength = 200;
const fours = [4, 4, 4, 4];
const cardLayouts: readonly (readonly number[])[] = [[4, 6, 5], [4, 6, 4], [8, 8], [...fours, 3], fours, [2, 2, 2, 2, 2, 2, 2, 2]];
const ssnLayout = [3, 2, 4];

/** @param groups all digits of the text that are adjacent. */
export function findSpreadNumbers(text: string, groups: readonly DigitGroup[], wanted: ReadonlySet<PiiKind>): readonly PiiMatch[] {
	const matches: PiiMatch[] = [];
	const scan = new SpreadScan(text, groups);
	for (let first = 0; first + 1 < groups.length; first++) {
		const found =
			(wanted.has('card') ? scan.cardAt(first) : undefined) ??
			(wanted.has('ssn') ? scan.ssnAt(first) : undefined) ??
			(wanted.has('phone') ? scan.phoneAt(first) : undefined);
		if (found === undefined) continue;
		const [kind, last] = found;
		// The plus sign belongs to the number.
		const start = (groups[first]?.start ?? 0) - (kind === 'phone' ? 1 : 0);
		const end = groups[last]?.end ?? 0;
		matches.push({ kind, start, end: kind === 'phone' ? extensionEnd(text, end) : end });
		first = last;
	}
	return matches;
}

type Found = readonly [kind: PiiKind, last: number];

class SpreadScan {
	readonly #text: string;
	readonly #groups: readonly DigitGroup[];

	constructor(text: string, groups: readonly DigitGroup[]) {
		this.#text = text;
		this.#groups = groups;
	}

	/** Finds a card. One of several same-sized groups in a row is no card, except for groups of four. */
	cardAt(first: number): Found | undefined {
		const size = this.#size(first);
		if (size === 1) return this.#singlesAt(first);
		const isLater = this.#isNeighbour(first - 1, first, size);
		for (const layout of cardLayouts) {
			if (layout[0] !== size || (isLater && layout !== fours)) continue;
			const last = this.#laidOut(first, layout);
			if (last === -1 || !isListedCard(this.#digits(first, last))) continue;
			if (layout === fours ? this.#isNoTable(first, last) : !this.#isNeighbour(last + 1, last + 1, size)) return ['card', last];
		}
		return undefined;
	}

	ssnAt(first: number): Found | undefined {
		const last = this.#size(first) === 3 ? this.#laidOut(first, ssnLayout) : -1;
		if (last === -1) return undefined;
		const gap = this.#gap(first + 1);
		if (gap !== this.#gap(last) || gap === this.#gap(first) || gap === this.#gap(last + 1)) return undefined;
		const isCommon = /[-_]/.test(gap ?? '');
		const isLikely = isCommon || isLabelledSsn(this.#text, this.#groups[first]?.start ?? 0, this.#groups[last]?.end ?? 0);
		return isLikely && isSsn(this.#digits(first, last)) ? ['ssn', last] : undefined;
	}

	phoneAt(first: number): Found | undefined {
		const start = this.#groups[first]?.start ?? 0;
		if (this.#text.charAt(start - 1) !== '+' || isLetterAt(this.#text, start - 2)) return undefined;
		const gap = this.#gap(first + 1);
		let digits = this.#size(first);
		let last = first;
		while (gap !== undefined && this.#gap(last + 1) === gap && digits <= maxPhoneDigits) digits += this.#size(++last);
		if (last === first || digits < minPhoneDigits || digits > maxPhoneDigits || !this.#isWhole(first, last)) return undefined;
		return isPhone(`+${this.#digits(first, last)}`, [digits], '', '') ? ['phone', last] : undefined;
	}

	/** Finds single digits without further ones in the row, because single digits are usually a list. */
	#singlesAt(first: number): Found | undefined {
		if (this.#isNeighbour(first - 1, first, 1)) return undefined;
		let last = first;
		while (last - first < maxCardLength && this.#isNeighbour(last + 1, last + 1, 1)) last++;
		const count = last - first + 1;
		if (count < minCardLength || count > maxCardLength || !this.#isWhole(first, last)) return undefined;
		return isListedCard(this.#digits(first, last)) ? ['card', last] : undefined;
	}

	/** Tables and lists also have four groups in a row. Further groups next to these must form another card, or this is none. */
	#isNoTable(first: number, last: number): boolean {
		const isCard = (from: number): boolean => this.#laidOut(from, fours) !== -1 && isListedCard(this.#digits(from, from + 3));
		const before = this.#isNeighbour(first - 1, first, 4) && this.#isNeighbour(first - 2, first - 1, 4);
		const after = this.#isNeighbour(last + 1, last + 1, 4) && this.#isNeighbour(last + 2, last + 2, 4);
		return (!before || isCard(first - 4)) && (!after || isCard(last + 1));
	}

	/** @param gapBefore index of the later of the two groups. */
	#isNeighbour(index: number, gapBefore: number, size: number): boolean {
		return this.#size(index) === size && this.#gap(gapBefore) !== undefined;
	}

	/** @returns the last of the groups that begin with `first` and have these sizes; -1 for none. */
	#laidOut(first: number, sizes: readonly number[]): number {
		for (let index = 0; index < sizes.length; index++) {
			if (this.#size(first + index) !== sizes[index] || (index > 0 && this.#gap(first + index) === undefined)) return -1;
		}
		const last = first + sizes.length - 1;
		return this.#isWhole(first, last) ? last : -1;
	}

	/** Checks that the number is not part of a name or of a decimal fraction, and not too long. */
	#isWhole(first: number, last: number): boolean {
		const start = this.#groups[first]?.start ?? 0;
		const end = this.#groups[last]?.end ?? 0;
		return !isLetterAt(this.#text, start - 1) && !isLetterAt(this.#text, end) && this.#gap(first) !== '.' && end - start <= maxSpreadLength;
	}

	#size(index: number): number {
		const group = this.#groups[index];
		return group === undefined ? 0 : group.end - group.start;
	}

	#digits(first: number, last: number): string {
		let digits = '';
		for (let index = first; index <= last; index++) {
			const { start, end } = this.#groups[index] as DigitGroup;
			digits += this.#text.slice(start, end);
		}
		return digits;
	}

	/** Returns the text before the group if both groups belong to the same row. */
	#gap(index: number): string | undefined {
		const before = this.#groups[index - 1];
		const group = this.#groups[index];
		if (before === undefined || group === undefined || group.start - before.end > maxGapLength) return undefined;
		for (let at = before.end; at < group.start; at++) if (!isSignAt(this.#text, at)) return undefined;
		return this.#text.slice(before.end, group.start);
	}
}

function isLetterAt(text: string, at: number): boolean {
	return isAlphanumeric(text.charCodeAt(at));
}
