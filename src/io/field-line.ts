const fieldName = /^[\w!#$%&'*+.^`|~-]+$/;
const unwritable = /[^\t\x20-\x7e\x80-\xff]/;

/** A header field as it is sent. @throws Error when it would break the head, or change it. */
export function fieldLine(name: string, value: string): string {
	if (!fieldName.test(name) || unwritable.test(value)) throw new Error(`The header ${JSON.stringify(name)} cannot be written`);
	return `${name}: ${value}\r\n`;
}
