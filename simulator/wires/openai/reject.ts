import { typeName } from '../../json-value.ts';
import { VendorError, type VendorErrorOptions } from '../../vendor-error.ts';

export function reject(message: string, options: VendorErrorOptions = {}): never {
	throw new VendorError('invalid', message, options);
}

/** Names the type of a value as the vendor does: `an integer`, `a string`. */
export function articled(value: unknown): string {
	const name = typeName(value);
	if (name === 'null') return 'null';
	return `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name}`;
}
