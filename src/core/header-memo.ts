/** Memoizes results that depend on header fields alone, for fields that the server passes again as the same object. */
import type { HeaderFields } from './handler.ts';

/** Header fields of connections whose client repeats one header block. */
const repeated = new WeakSet<HeaderFields>();

/** Marks header fields that later requests may share as the same, unchanged object. For HTTP servers. */
export function markRepeated(headers: HeaderFields): void {
	repeated.add(headers);
}

/** Memoizes `find` for repeated header fields. Other results are not stored, because most are never requested again. */
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

/** Memoizes results that are header fields themselves. They are marked as repeated if their source is. */
export function memoizeHeaders<Fields extends HeaderFields>(find: (headers: HeaderFields) => Fields): (headers: HeaderFields) => Fields {
	return memoizeByHeaders((headers: HeaderFields) => {
		const fields = find(headers);
		if (repeated.has(headers)) repeated.add(fields);
		return fields;
	});
}
