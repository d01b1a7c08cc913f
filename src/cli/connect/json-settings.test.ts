import { describe, expect, it } from 'vitest';
import { changeJson } from './json-settings.ts';

const settings = { env: { URL: 'http://gateway' }, helper: 'token' };

describe('settings in JSON', () => {
	it('are complete without a file', () => {
		expect(changeJson(undefined, settings)).toEqual({
			text: '{\n  "env": {\n    "URL": "http://gateway"\n  },\n  "helper": "token"\n}\n',
			replaced: [],
		});
		expect(changeJson(' \n', {}).text).toBe('{}\n');
	});

	it('join other settings, in the order and with the indentation of the file', () => {
		const before = '{\n\t"permissions": { "allow": ["Bash(ls)"] },\n\t"env": { "A": "1", "URL": "http://old" },\n\t"__proto__": 1\n}';
		const { text, replaced } = changeJson(before, settings);
		expect(text).toBe(
			'{\n\t"permissions": {\n\t\t"allow": [\n\t\t\t"Bash(ls)"\n\t\t]\n\t},\n\t"env": {\n\t\t"A": "1",\n\t\t"URL": "http://gateway"\n\t},\n' +
				'\t"__proto__": 1,\n\t"helper": "token"\n}\n',
		);
		expect(replaced).toEqual(['env.URL']);
		expect(changeJson(text, settings)).toEqual({ text, replaced: [] });
	});

	it.each([
		['{ // comment\n}', 'the file is not JSON'],
		['[]', 'the file is not a JSON object'],
		['{"env": "x"}', 'env of the file is not an object'],
		['{"env": null}', 'env of the file is not an object'],
	])('are not added to %s', (before, message) => {
		expect(() => changeJson(before, settings)).toThrow(message);
	});
});
