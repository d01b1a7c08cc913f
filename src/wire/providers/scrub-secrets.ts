/** Replacement for a secret in an error's body. */
const hidden = '***';

/** Shorter ones are words; hiding them would only garble texts. */
const minSecretLength = 6;

/** A mask that shows fewer characters than this reveals nothing. */
const minFragmentLength = 3;

/**
 * Removes secrets from the body of a provider's response, complete or partly masked: providers quote a wrong key as its first characters,
 * asterisks or dots, its last characters.
 * @param secrets in printable ASCII: the provider's key and other confidential values sent to it; short ones are ignored.
 * @returns the same buffer if nothing was removed.
 */
export function scrubSecrets(body: Buffer, secrets: readonly string[]): Buffer {
	// One character a byte, so that all other content of the body survives.
	const text = body.toString('latin1');
	// One secret may be a part of another: the longer one is removed first.
	const byDescendingLength = secrets
		.filter((secret) => secret.length >= minSecretLength)
		.toSorted((one, other) => other.length - one.length);
	const scrubbed = byDescendingLength.reduce(hideSecret, text);
	return scrubbed === text ? body : Buffer.from(scrubbed, 'latin1');
}

function hideSecret(text: string, secret: string): string {
	return hideMasked(hideEscaped(text.replaceAll(secret, hidden), secret), secret);
}

/** JSON may escape any character (RFC 8259 section 7), a JSON text inside JSON escapes the escapes, and so may a form or a page. */
function hideEscaped(text: string, secret: string): string {
	if (!escapeMark.test(text)) return text;
	const spellings = Array.from(secret.replaceAll(/\\+/g, '\\'), spellingsOf);
	return text.replace(new RegExp(spellings.join(''), 'g'), hidden);
}

const escapeMark = /[\\%&]/;

/** Pattern of one printable ASCII character. The number of backslashes is limited, so that a body full of them costs no extra work. */
function spellingsOf(character: string): string {
	const point = character.charCodeAt(0);
	const code = anyCase(point.toString(16).padStart(2, '0'));
	// Escapes of escapes: `%252F`, `&amp;#47;`.
	const others = [`%(?:25){0,3}${code}`, `&(?:amp;){0,3}(?:#0{0,5}${point}|#[xX]0{0,4}${code}${namesOf(character)});`];
	if (character === '\\') return `(?:\\\\{1,8}(?:u005[cC]|x5[cC])?|${others.join('|')})`;
	const literal = /[A-Za-z0-9]/.test(character) ? character : `\\\\{0,4}\\${character}`;
	return `(?:${literal}|\\\\{1,4}(?:u00|x)${code}|${others.join('|')})`;
}

/** Entities that pages use for characters that templates escape. */
const entityNames: Readonly<Record<string, string>> = {
	'"': 'quot',
	'&': 'amp',
	"'": 'apos',
	'+': 'plus',
	'/': 'sol',
	'<': 'lt',
	'=': 'equals',
	'>': 'gt',
	_: 'lowbar',
};

function namesOf(character: string): string {
	const name = entityNames[character];
	return name === undefined ? '' : `|${name}`;
}

function anyCase(hexadecimal: string): string {
	return hexadecimal.replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

/** Asterisks, dots, and `…` and `•` as UTF-8 bytes or escaped. */
const masks = /\*{2,}|\.{2,}|(?:\xe2\x80[\xa2\xa6])+|(?:\\u202[26])+/g;

function hideMasked(text: string, secret: string): string {
	let result = '';
	let retained = 0;
	for (const { 0: mask, index } of text.matchAll(masks)) {
		const maskEnd = index + mask.length;
		const head = maxHeadLength(text, Math.max(retained, index - secret.length), index, secret);
		const tail = maxTailLength(text, maskEnd, secret);
		if (head + tail < minFragmentLength) continue;
		result += text.slice(retained, index - head) + hidden;
		retained = maskEnd + tail;
	}
	return result + text.slice(retained);
}

/** Returns the number of characters right before `end` that equal the secret's beginning. */
function maxHeadLength(text: string, from: number, end: number, secret: string): number {
	for (let start = from; start < end; start++) {
		// One character excludes most positions, of which there may be hundreds of thousands.
		if (text[end - 1] === secret[end - start - 1] && secret.startsWith(text.slice(start, end))) return end - start;
	}
	return 0;
}

/** Returns the number of characters from `start` on that equal the secret's end. */
function maxTailLength(text: string, start: number, secret: string): number {
	for (let end = Math.min(text.length, start + secret.length); end > start; end--) {
		if (text[start] === secret[secret.length - (end - start)] && secret.endsWith(text.slice(start, end))) return end - start;
	}
	return 0;
}
