import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { faultNames } from './faults/fault-names.ts';

test('the reference lists each fault as it is', () => {
	const page = readFileSync(new URL('../docs/reference/simulator.md', import.meta.url), 'utf8');
	const faults = page.slice(page.indexOf('## Faults'), page.indexOf('## Control'));
	const rows = [...faults.matchAll(/^\| `([^`]+)` \| (?:([^,|]+), (\d+) )?\| (.*) \|$/gm)].map(([, words, meaning, otherwise, effect]) => ({
		words,
		...(meaning === undefined ? {} : { number: { meaning, otherwise: Number(otherwise) } }),
		effect,
	}));
	expect(rows).toEqual(faultNames.map(({ plan: _plan, ...described }) => described));
});
