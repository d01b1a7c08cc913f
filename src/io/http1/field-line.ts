const fieldName = /^[\w!#$%&'*+.^`|~-]+$/;
const unwritable = /[^\t\x20-\x7e\x80-\xff]/;

/** Names repeat, so they are cached; the bound is for names that clients choose. */
const mostKnownNames = 1000;
const longestKnownName = 64;
const knownNames = new Set<string>();

/** Formats a header field for sending. @throws Error if the field would break or change the head. */
export function fieldLine(name: string, value: string): string {
	if (!isFieldName(name) || unwritable.test(value)) throw new Error(`The header ${JSON.stringify(name)} is invalid`);
	return `${name}: ${value}\r\n`;
}

function isFieldName(name: string): boolean {
	if (knownNames.has(name)) return true;
	const isSound = fieldName.test(name);
	if (isSound && name.length <= longestKnownName && knownNames.size < mostKnownNames) knownNames.add(name);
	return isSound;
}
