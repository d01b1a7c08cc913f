import { expect, test } from 'vitest';
import { spooledEntryFrom } from './spooled-texts.ts';

const opened = [
	'id',
	1,
	'red',
	'red-client',
	'provider_a',
	'claude',
	'responses',
	true,
	'default:2026-11-01',
	'["red"]',
	'5000',
	'/v1/responses',
	'{"a":"b"}',
];

test('entries of a dialect that this release does not know are sent like others', () => {
	const running = [...opened, ...Array.from({ length: 11 }, () => null)];
	const ended = [...opened, 'complete', 901, 200, false, 1, 20, 300, 100, 4000, 50, '1234'];
	expect([running, ended].map((row) => spooledEntryFrom(row))).toEqual([running, ended]);
});

test('a column of another kind is an error that shows no value', () => {
	expect(() => spooledEntryFrom([...opened.with(6, 1)])).toThrow('Expected a string, found a value of type number');
});
