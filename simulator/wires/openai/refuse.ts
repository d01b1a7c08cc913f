import { typeName } from '../../json-value.ts';
import { VendorError, type VendorErrorOptions } from '../../vendor-error.ts';

export function refuse(message: string, options: VendorErrorOptions = {}): never {
	throw new VendorError('invalid', message, options);
}

/** `an integer`, `a string`: what was sent, as the vendor names it. */
export function articled(value: unknown): string {
	const name = typeName(value);
	if (name === 'null') return 'null';
	return `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name}`;
}
