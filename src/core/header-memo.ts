/** Results that depend on header fields alone, kept for fields that the server gives again as the same object. */
import type { HeaderFields } from './handler.ts';

/** Fields of connections whose client sends one head over and over. */
const repeated = new WeakSet<HeaderFields>();

/** Says that further requests may bear this very object, which nobody changes. For HTTP servers. */
export function markRepeated(headers: HeaderFields): void {
	repeated.add(headers);
}

/** The function, which finds each result once for repeated fields. Others are not kept: most would never be asked for again. */
export function memoizeByHeaders<Value, Fields extends HeaderFields>(find: (headers: Fields) => Value): (headers: Fields) => Value {
	const found = new WeakMap<HeaderFields, { readonly value: Value }>();
	return (headers) => {
		if (!repeated.has(headers)) return find(headers);
		let known = found.get(headers);
		if (known === undefined) {
			known = { value: find(headers) };
			found.set(headers, known);
		}
		return known.value;
	};
}

/** The same for results that are header fields themselves: they are repeated where those that they depend on are. */
export function memoizeHeaders<Fields extends HeaderFields>(find: (headers: HeaderFields) => Fields): (headers: HeaderFields) => Fields {
	return memoizeByHeaders((headers: HeaderFields) => {
		const fields = find(headers);
		if (repeated.has(headers)) repeated.add(fields);
		return fields;
	});
}
