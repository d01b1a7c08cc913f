/** What stands in an error's body in place of a key. */
const hidden = '***';

/** Shorter keys are words; hiding them would only mangle texts. */
const shortestKey = 6;

/** A mask that shows fewer characters than this shows nothing. */
const shortestFragment = 3;

/**
 * Removes a provider's key from the body of its answer, whole or partly masked: providers quote a wrong key
 * as its first characters, asterisks, its last characters.
 * @returns the same buffer when there was nothing to remove.
 */
export function scrubKey(body: Buffer, apiKey: string): Buffer {
	if (apiKey.length < shortestKey) return body;
	// One character a byte, so that whatever else the body holds survives.
	const text = body.toString('latin1');
	const scrubbed = hideMasked(hideEscaped(text.replaceAll(apiKey, hidden), apiKey), apiKey);
	return scrubbed === text ? body : Buffer.from(scrubbed, 'latin1');
}

/** JSON may write any character as an escape (RFC 8259 section 7), a JSON text inside JSON escapes the escapes, and so may a form. */
function hideEscaped(text: string, apiKey: string): string {
	if (!escapeMark.test(text)) return text;
	const spellings = Array.from(apiKey.replaceAll(/\\+/g, '\\'), spellingsOf);
	return text.replace(new RegExp(spellings.join(''), 'g'), hidden);
}

const escapeMark = /[\\%]/;

/** Pattern of one printable ASCII character. Backslashes are counted, so that a body made of them is no work. */
function spellingsOf(character: string): string {
	if (character === '\\') return '(?:\\\\{1,8}(?:u005[cC])?|%5[cC])';
	const code = anyCase(character.charCodeAt(0).toString(16).padStart(2, '0'));
	const literal = /[A-Za-z0-9]/.test(character) ? character : `\\\\{0,4}\\${character}`;
	return `(?:${literal}|\\\\{1,4}u00${code}|%${code})`;
}

function anyCase(hexadecimal: string): string {
	return hexadecimal.replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

function hideMasked(text: string, apiKey: string): string {
	let result = '';
	let kept = 0;
	for (let stars = text.indexOf('**'); stars !== -1; stars = text.indexOf('**', kept)) {
		let starsEnd = stars;
		while (text[starsEnd] === '*') starsEnd++;
		const head = longestHead(text, Math.max(kept, stars - apiKey.length), stars, apiKey);
		const tail = longestTail(text, starsEnd, apiKey);
		if (head + tail >= shortestFragment) {
			result += text.slice(kept, stars - head) + hidden;
			kept = starsEnd + tail;
		} else {
			result += text.slice(kept, starsEnd);
			kept = starsEnd;
		}
	}
	return result + text.slice(kept);
}

/** How many characters right before `end` are the key's beginning. */
function longestHead(text: string, from: number, end: number, apiKey: string): number {
	for (let start = from; start < end; start++) {
		// One character tells most places apart, and there may be hundreds of thousands of them.
		if (text[end - 1] === apiKey[end - start - 1] && apiKey.startsWith(text.slice(start, end))) return end - start;
	}
	return 0;
}

/** How many characters from `start` on are the key's end. */
function longestTail(text: string, start: number, apiKey: string): number {
	for (let end = Math.min(text.length, start + apiKey.length); end > start; end--) {
		if (text[start] === apiKey[apiKey.length - (end - start)] && apiKey.endsWith(text.slice(start, end))) return end - start;
	}
	return 0;
}
