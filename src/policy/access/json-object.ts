/** Parses JSON objects with a single meaning: valid UTF-8, no byte-order mark, no duplicate member at any depth. */

export type JsonObject = Readonly<Record<string, unknown>>;

// Without `ignoreBOM` the decoder would drop a byte-order mark; with it, `JSON.parse` rejects the mark.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** @returns undefined for anything other than such an object. */
export function readJsonObject(bytes: Buffer): JsonObject | undefined {
	try {
		const text = decoder.decode(bytes);
		const value: unknown = JSON.parse(text);
		return isObject(value) && !repeatsMember(text) ? value : undefined;
	} catch {
		return undefined;
	}
}

function isObject(value: unknown): value is JsonObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const string = /"(?:[^"\\]|\\.)*"/y;
const colon = /[ \t\n\r]*:/y;

/** @param text valid JSON, in which a string is a member's name exactly when a colon follows. */
export function repeatsMember(text: string): boolean {
	const open: Set<string>[] = [];
	for (let at = 0; at < text.length; at++) {
		const character = text[at];
		if (character === '{') open.push(new Set());
		else if (character === '}') open.pop();
		if (character !== '"') continue;
		const start = at;
		string.lastIndex = at;
		string.test(text);
		at = string.lastIndex - 1;
		colon.lastIndex = string.lastIndex;
		if (!colon.test(text)) continue;
		const name = text.slice(start, at + 1);
		const plain = name.includes('\\') ? JSON.stringify(JSON.parse(name)) : name;
		const names = open.at(-1);
		if (names?.has(plain) === true) return true;
		names?.add(plain);
	}
	return false;
}
