/** Decoders for values from files, databases and threads: a value of another shape fails here with a `TypeError`. */

export type Decode<Value> = (value: unknown) => Value;

export const textFrom: Decode<string> = (value) => {
	if (typeof value !== 'string') throw unexpected('a string', value);
	return value;
};

export const numberFrom: Decode<number> = (value) => {
	if (typeof value !== 'number') throw unexpected('a number', value);
	return value;
};

export const booleanFrom: Decode<boolean> = (value) => {
	if (typeof value !== 'boolean') throw unexpected('a boolean', value);
	return value;
};

export function orNull<Value>(decode: Decode<Value>): Decode<Value | null> {
	return (value) => (value === null ? null : decode(value));
}

/** Decodes a member that may be absent. */
export function orAbsent<Value>(decode: Decode<Value>): Decode<Value | undefined> {
	return (value) => (value === undefined ? undefined : decode(value));
}

export function oneOf<const Value extends string>(known: readonly Value[]): Decode<Value> {
	return (value) => {
		const found = known.find((one) => one === value);
		if (found === undefined) throw unexpected(`one of ${known.join(', ')}`, value);
		return found;
	};
}

export function listOf<Value>(decode: Decode<Value>): Decode<Value[]> {
	return (value) => itemsFrom(value).map((item) => decode(item));
}

export function itemsFrom(value: unknown): readonly unknown[] {
	if (!Array.isArray(value)) throw unexpected('a list', value);
	return value;
}

export function membersFrom(value: unknown): Readonly<Record<string, unknown>> {
	if (typeof value !== 'object' || value === null || Array.isArray(value)) throw unexpected('an object', value);
	return Object.fromEntries(Object.entries(value));
}

/** Decodes an object whose members all have one type. */
export function byName<Value>(decode: Decode<Value>): Decode<Record<string, Value>> {
	return (value) => Object.fromEntries(Object.entries(membersFrom(value)).map(([name, member]) => [name, decode(member)]));
}

/** @throws SyntaxError for text that is no JSON, TypeError for another shape. */
export function decodeJson<Value>(text: string, decode: Decode<Value>): Value {
	const value: unknown = JSON.parse(text);
	return decode(value);
}

/** Names the type, never the value: it may be secret. */
function unexpected(wanted: string, value: unknown): TypeError {
	const kind = value === null ? 'null' : Array.isArray(value) ? 'a list' : `a value of type ${typeof value}`;
	return new TypeError(`Expected ${wanted}, found ${kind}`);
}
