import { BoundedMap } from './bounded-map.ts';

/** The function, which remembers what it found for so many of the latest keys: for texts that callers choose, such as models' names. */
export function remembering<Value>(capacity: number, find: (key: string) => Value): (key: string) => Value {
	const found = new BoundedMap<string, { readonly value: Value }>(capacity);
	return (key) => {
		let known = found.get(key);
		if (known === undefined) {
			known = { value: find(key) };
			found.set(key, known);
		}
		return known.value;
	};
}
