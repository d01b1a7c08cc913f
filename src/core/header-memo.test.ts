import { expect, test } from 'vitest';
import type { HeaderFields } from './handler.ts';
import { markRepeated, memoizeByHeaders, memoizeHeaders } from './header-memo.ts';

test('a result is found once for repeated fields, each time for others, and by each function for itself', () => {
	const requested: HeaderFields[] = [];
	const find = (headers: HeaderFields): string | undefined => {
		requested.push(headers);
		return typeof headers['a'] === 'string' ? headers['a'] : undefined;
	};
	const [memo, other] = [memoizeByHeaders(find), memoizeByHeaders(find)];
	const [repeated, alike, empty] = [{ a: 'b' }, { a: 'b' }, {}];
	markRepeated(repeated);
	markRepeated(empty);
	for (let round = 0; round < 3; round++) expect([memo(repeated), memo(alike), memo(empty)]).toEqual(['b', 'b', undefined]);
	expect(requested).toEqual([repeated, alike, empty, alike, alike]);
	expect(other(repeated)).toBe('b');
	expect(requested).toHaveLength(6);
});

test('fields that depend on repeated ones are repeated, too', () => {
	const derive = memoizeHeaders(({ a }) => ({ b: a }));
	const requested: HeaderFields[] = [];
	const last = memoizeByHeaders((headers: HeaderFields) => requested.push(headers));
	const repeated = { a: 'b' };
	markRepeated(repeated);
	for (let round = 0; round < 2; round++) last(derive(repeated));
	for (let round = 0; round < 2; round++) last(derive({ a: 'c' }));
	expect(derive(repeated)).toBe(derive(repeated));
	expect(requested).toEqual([{ b: 'b' }, { b: 'c' }, { b: 'c' }]);
});
