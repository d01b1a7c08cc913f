import { expect, it } from 'vitest';
import { percentDecoded } from './percent-decoding.ts';

it.each([
	['a%20b', 'a b'],
	['%64%61rk', 'dark'],
	['%c3%A9\u00e9%C3', '\u00e9\u00e9\ufffd'],
	['100% of %zz %4', '100% of %zz %4'],
	['%%41%', '%A%'],
	['\u{1f600}%21', '\u{1f600}!'],
	['%2541', '%41'],
	['none', 'none'],
])('decodes %s', (text, decoded) => {
	expect(percentDecoded(text)).toBe(decoded);
});
