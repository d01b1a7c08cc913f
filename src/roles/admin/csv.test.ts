import { expect, test } from 'vitest';
import { csvResponse } from './csv.ts';

const cellOf = (text: string): string | undefined =>
	csvResponse(['a', 'b'], [{ a: text, b: 1 }]).text?.slice('a,b\r\n'.length, -',1\r\n'.length);

test.each(['=1+1', '+1', '-1', '@SUM(1)', '\t=1', '\r=1', '\n=1', '＝1', '＋1', '－1', '＠1', '=HYPERLINK("https://example.net")'])(
	'%j is no formula in a spreadsheet',
	(text) => {
		expect(cellOf(text)).toBe(`"'${text.replaceAll('"', '""')}"`);
	},
);

test('other texts are unchanged, in quotation marks if their characters require it', () => {
	expect(['gpt-4o', 'a/b:c', 'a,b', 'say "hi"', 'größe', '', 'a=b'].map(cellOf)).toEqual([
		'gpt-4o',
		'a/b:c',
		'"a,b"',
		'"say ""hi"""',
		'"größe"',
		'',
		'"a=b"',
	]);
	expect(csvResponse(['a', 'b', 'c'], [{ a: null, b: true, c: -1 }]).text).toBe('a,b,c\r\n,true,-1\r\n');
});
