import { describe, expect, test } from 'vitest';
import { readHeaderValue } from './canonical-text.ts';
import { sqlInjection } from './sql-injection.ts';
import { sqlTokens } from './sql-tokens.ts';

const isSql = (value: string): boolean => readHeaderValue(value).some(({ uncommented }) => sqlInjection.test(uncommented));

test.each<[string, '' | "'", string]>([
	["x' or 'a'='a", "'", 's&sos'],
	['1 union all select a,b from t', '', 'nUSw,wFw'],
	['count(x), sleep(5)', '', 'g(w),f(n)'],
	["it''s", "'", 's'],
	["a\\'b", "'", 's'],
	['1--', '', 'nc'],
	['1# x', '', 'nk'],
	['7 #2', '', 'njn'],
	['a --b', '', 'wjw'],
	['1--b', '', 'nk'],
	['me@example.com', '', 'wjw'],
	['@@version + @x', '', 'vmv'],
	['order by 3 limit 1', '', 'GnLn'],
	['insert into a', '', 'Iw'],
	['', '', ''],
])('tokens of %s in %s: %s', (value, quote, tokens) => {
	expect(sqlTokens(value, quote)).toBe(tokens);
});

describe('SQL is distinguished from', () => {
	test.each([
		"x' or 'a'='a",
		'1 or 1=1',
		"admin'--",
		'1) or (1=1',
		"1' order by 3--",
		"'; drop table users",
		'1 union/**/select null',
		"x' and (select 1 from t)=1",
		"'||(select a from b)||'",
		'1;declare @a int',
		"' or true--",
		'1 and sleep(5)',
	])('%s is', (value) => {
		expect(isSql(value)).toBe(true);
	});

	test.each([
		"rock 'n' roll or 'jazz'",
		'"like" stamp',
		'wood" + "sign" + "primitive"',
		'"foo" and "bar',
		'7" #2 needle',
		"dresses' --infant -child",
		"men's shoes and women's shoes",
		'size 5 or 6',
		'the union will select a committee',
		'how to drop a table in sql',
		'select a model from the list',
		`name eq 'x' and price gt 10`,
		`project = ABC AND status = "Open"`,
		`{"a":"b","c":[1,2]}`,
		`5' 10" tall -- and counting`,
		'3 x 4 = 12',
		'a=b and b=c',
	])('%s is not', (value) => {
		expect(isSql(value)).toBe(false);
	});
});
