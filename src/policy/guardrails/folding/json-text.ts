/** Resolves the escapes of JSON and keeps quotes and braces, so that adjacent text stays adjacent. */

export interface ResolvedText {
	readonly text: string;
	/**
	 * Original position of each character, and of the end of the resolved text, before an incomplete escape. Undefined if no position
	 * changed.
	 */
	readonly positions: Int32Array | undefined;
}

const backslash = 0x5c;
const letterU = 0x75;
const short: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: ' ', f: ' ' };

export function resolveEscapes(json: string): ResolvedText {
	if (!json.includes('\\')) return { text: json, positions: undefined };
	const positions = new Int32Array(json.length + 1);
	let text = '';
	let length = 0;
	let at = 0;
	while (at < json.length) {
		let end = at + 1;
		let character = json.charAt(at);
		if (json.charCodeAt(at) === backslash) {
			end = at + (json.charCodeAt(at + 1) === letterU ? 6 : 2);
			if (end > json.length) break;
			character = resolve(json, at, end);
		}
		positions[length++] = at;
		text += character;
		at = end;
	}
	positions[length] = at;
	return { text, positions };
}

function resolve(json: string, at: number, end: number): string {
	if (end - at === 2) return short[json.charAt(at + 1)] ?? json.charAt(at + 1);
	const code = Number.parseInt(json.slice(at + 2, end), 16);
	return Number.isNaN(code) ? ' ' : String.fromCharCode(code);
}

/** @returns true if the JSON is inside a string after `json`, given its state before. */
export function isInsideString(json: string, wasInside: boolean): boolean {
	let isInside = wasInside;
	for (let at = 0; at < json.length; at++) {
		const character = json.charAt(at);
		if (character === '"') isInside = !isInside;
		else if (character === '\\' && isInside) at++;
	}
	return isInside;
}

/** Tells whether a part of JSON extends beyond one string. */
export function hasQuote(json: string): boolean {
	for (let at = 0; at < json.length; at++) {
		const character = json.charAt(at);
		if (character === '"') return true;
		if (character === '\\') at++;
	}
	return false;
}
