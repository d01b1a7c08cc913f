import { expect, test } from 'vitest';
import { WrittenBody } from './parse-body.ts';

test.each([
	['plain', true],
	['é', false],
	['😀', false],
])('a body that contains %s reports whether it is ASCII: %s', (text, isAscii) => {
	const body = new WrittenBody({ model: text }, new Set(['model']));
	expect([body.isAscii, body.bytes.toString('utf8', body.ranges.get('model')?.start, body.ranges.get('model')?.end)]).toEqual([
		isAscii,
		JSON.stringify(text),
	]);
});
