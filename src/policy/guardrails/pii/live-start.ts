/** Finds the part at the end of a text that is undecided while more text can follow. */
import { addressSign, maxEmailLength, readAddress, spokenEmailStart } from './email.ts';
import { maxLabelAfter } from './labels.ts';
import { isDigitCode, isSeparatorCode } from './number-run.ts';
import { isSignAt } from './signs.ts';
import { maxGapLength } from './spread-numbers.ts';

/** Maximum length of a match. */
export const maxPiiLength = maxEmailLength + 2;
/** Maximum length of a letter group between the digits of an account number. */
const maxLetterGroupLength = 4;
/** Maximum separators after a word that can become an address. */
const maxSeparators = 3;
/** Digits of the shortest number that a label can follow. */
const minLabelledDigits = 7;
const lineEnd = /[\n!?]|\.\s/;
const keyBlock = '-----BEGIN ';
const beginningOfKeyBlock = /^-----BEGIN (?:[A-Z]{0,12} ?){0,4}-{0,5}$/;

const anyAddressSign = new RegExp(addressSign, 'g');

/**
 * @returns the offset from which more text can create or change matches, at most one match length from the end. It is the start of the last
 * word, of groups with digits, of an incomplete address, or of a private key's head.
 */
export function livePiiStart(text: string): number {
	const min = Math.max(0, text.length - maxPiiLength);
	return Math.min(
		numbersStart(text, text.length, min),
		labelledStart(text, min),
		addressStart(text, min),
		spokenEmailStart(text, min),
		keyBlockStart(text, min),
	);
}

function numbersStart(text: string, from: number, min: number): number {
	let live = wordStart(text, skipSeparators(text, from, min), min);
	let next = live;
	while (live > min) {
		const end = skipSigns(text, next, min);
		const start = wordStart(text, end, min);
		if (hasDigit(text, start, end)) live = start;
		else if (start === end || end - start > maxLetterGroupLength || next < live) return live;
		next = start;
	}
	return live;
}

/** Finds a number that a label or an extension can follow, as long as no line or sentence ends. */
function labelledStart(text: string, min: number): number {
	for (let at = Math.max(min, text.length - maxLabelAfter); at < text.length; at++) {
		if (!isDigitCode(text.charCodeAt(at)) || isDigitCode(text.charCodeAt(at + 1))) continue;
		if (lineEnd.test(text.slice(at))) continue;
		const live = numbersStart(text, at + 1, min);
		if (digitsIn(text, live, at + 1) >= minLabelledDigits) return live;
	}
	return text.length;
}

function digitsIn(text: string, start: number, end: number): number {
	let count = 0;
	for (let at = start; at < end; at++) if (isDigitCode(text.charCodeAt(at))) count++;
	return count;
}

function addressStart(text: string, min: number): number {
	anyAddressSign.lastIndex = min;
	while (anyAddressSign.test(text)) {
		const address = readAddress(text, anyAddressSign.lastIndex - 1);
		if (address?.canContinue === true) return Math.max(min, address.start);
	}
	return text.length;
}

function keyBlockStart(text: string, min: number): number {
	// Usually there is none, which a search from the left finds out faster.
	if (!text.includes(keyBlock, min)) return text.length;
	const start = text.lastIndexOf(keyBlock);
	return beginningOfKeyBlock.test(text.slice(start)) ? start : text.length;
}

function skipSeparators(text: string, end: number, min: number): number {
	let at = end;
	while (at > min && end - at < maxSeparators && isSeparatorCode(text.charCodeAt(at - 1))) at--;
	return at;
}

function skipSigns(text: string, end: number, min: number): number {
	let at = end;
	while (at > min && end - at < maxGapLength && isSignAt(text, at - 1)) at--;
	return at;
}

function wordStart(text: string, end: number, min: number): number {
	let at = end;
	while (at > min && text.charCodeAt(at - 1) > 0x20) at--;
	return at;
}

function hasDigit(text: string, start: number, end: number): boolean {
	for (let at = start; at < end; at++) if (isDigitCode(text.charCodeAt(at))) return true;
	return false;
}
