/**
 * Computes the signs of a text as a bit mask, so that a pattern that needs a missing sign does not run. They are derived from the patterns,
 * so no list has to be kept in sync by hand.
 */

const signs = ' \n!"#$%&\'()*,-./:;<=>?@[\\]_`{|}';
const bitOf = new Int32Array(128);
for (const [index, sign] of Array.from(signs).entries()) bitOf[sign.charCodeAt(0)] = 1 << index;

export function signsOf(text: string): number {
	let bits = 0;
	for (let at = 0; at < text.length; at++) {
		const code = text.charCodeAt(at);
		if (code < 128) bits |= bitOf[code] ?? 0;
	}
	return bits;
}

/** Splits a pattern into its top-level alternatives, grouped by the signs that they need. */
export function splitByNeeds({ source, flags }: RegExp): readonly { readonly pattern: RegExp; readonly needs: number }[] {
	const alternatives = new Map<number, string[]>();
	for (const alternative of topAlternatives(source)) {
		const needs = needsOfSequence(alternative);
		const own = alternatives.get(needs);
		if (own === undefined) alternatives.set(needs, [alternative]);
		else own.push(alternative);
	}
	return Array.from(alternatives, ([needs, parts]) => ({ pattern: new RegExp(parts.join('|'), flags), needs }));
}

function topAlternatives(source: string): string[] {
	const alternatives: string[] = [];
	let from = 0;
	for (let at = 0; at < source.length; at = endOfItem(source, at)) {
		if (source[at] !== '|') continue;
		alternatives.push(source.slice(from, at));
		from = at + 1;
	}
	alternatives.push(source.slice(from));
	return alternatives;
}

/** Returns the signs that every match of this sequence has. */
function needsOfSequence(sequence: string): number {
	let needs = 0;
	for (let at = 0; at < sequence.length; ) {
		const end = endOfItem(sequence, at);
		const quantified = endOfQuantifier(sequence, end);
		const canBeMissing = /^(?:[?*]|\{0)/.test(sequence.slice(end, quantified));
		if (!canBeMissing) needs |= needsOfItem(sequence.slice(at, end));
		at = quantified;
	}
	return needs;
}

function needsOfItem(item: string): number {
	if (item.startsWith('(')) {
		if (/^\(\?(?:[=!]|<[=!])/.test(item)) return 0;
		const inner = item.slice(item.startsWith('(?:') ? 3 : 1, -1);
		return topAlternatives(inner)
			.map(needsOfSequence)
			.reduce((some, more) => some & more);
	}
	// A backslash is equivalent to a slash.
	if (item === '[\\\\/]') return bitOf[0x2f] ?? 0;
	if (item === '\\n') return bitOf[10] ?? 0;
	if (item.startsWith('\\')) return item.length === 2 && !/\w/.test(item[1] ?? '') ? (bitOf[item.charCodeAt(1)] ?? 0) : 0;
	return item.length === 1 && !'.^$'.includes(item) ? (bitOf[item.charCodeAt(0)] ?? 0) : 0;
}

/** Returns the end of a character, an escape, a class or a group. */
function endOfItem(source: string, at: number): number {
	switch (source[at]) {
		case '\\':
			return at + 2;
		case '[':
			return endOfClass(source, at);
		case '(': {
			let end = at + 1;
			while (end < source.length && source[end] !== ')') end = endOfItem(source, end);
			return end + 1;
		}
		default:
			return at + 1;
	}
}

function endOfClass(source: string, at: number): number {
	let end = at + 1;
	while (end < source.length && source[end] !== ']') end += source[end] === '\\' ? 2 : 1;
	return end + 1;
}

function endOfQuantifier(source: string, at: number): number {
	return at + (/^(?:[?*+]|\{\d+(?:,\d*)?\})\??/.exec(source.slice(at, at + 16))?.[0].length ?? 0);
}
