import type { Reading } from './canonical-text.ts';

/**
 * One thing that attacks have and honest requests do not, searched in one form of a text. Time must grow with the text's length
 * alone: no repetition without a bound, unless what follows cannot match what is repeated. A test holds each of them to that.
 */
export interface Signature {
	readonly form: keyof Reading;
	readonly pattern: RegExp;
}

export function plain(...patterns: readonly RegExp[]): Signature[] {
	return patterns.map((pattern) => ({ form: 'plain', pattern }));
}

export function packed(...patterns: readonly RegExp[]): Signature[] {
	return patterns.map((pattern) => ({ form: 'packed', pattern }));
}

export function uncommented(...patterns: readonly RegExp[]): Signature[] {
	return patterns.map((pattern) => ({ form: 'uncommented', pattern }));
}

export function unquoted(...patterns: readonly RegExp[]): Signature[] {
	return patterns.map((pattern) => ({ form: 'unquoted', pattern }));
}

/** Any of these texts, taken literally. */
export function anyOf(...texts: readonly string[]): RegExp {
	return new RegExp(texts.map((text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|'));
}
