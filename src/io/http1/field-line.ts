const fieldName = /^[\w!#$%&'*+.^`|~-]+$/;
const unwritable = /[^\t\x20-\x7e\x80-\xff]/;

/** Names repeat, so they are cached; the bound is for names that clients choose. */
const maxKnownNames = 1000;
const maxKnownNameLength = 64;
const knownNames = new Set<string>();

/** Formats a header field for sending. @throws Error if the field would break or change the head. */
export function fieldLine(name: string, value: string): string {
	if (!isFieldName(name) || unwritable.test(value)) throw new Error(`The header ${JSON.stringify(name)} is invalid`);
	return `${name}: ${value}\r\n`;
}

function isFieldName(name: string): boolean {
	if (knownNames.has(name)) return true;
	const isSound = fieldName.test(name);
	if (isSound && name.length <= maxKnownNameLength && knownNames.size < maxKnownNames) knownNames.add(name);
	return isSound;
}
