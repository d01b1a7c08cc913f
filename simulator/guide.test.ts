import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { faultNames } from './faults/fault-names.ts';

test('the guide lists each fault as it is', () => {
	const guide = readFileSync(new URL('../docs/guide/simulator.md', import.meta.url), 'utf8');
	const faults = guide.slice(guide.indexOf('## Faults'), guide.indexOf('## Control'));
	const rows = [...faults.matchAll(/^\| `([^`]+)` \| (?:([^,|]+), (\d+) )?\| (.*) \|$/gm)].map(([, words, meaning, otherwise, effect]) => ({
		words,
		...(meaning === undefined ? {} : { number: { meaning, otherwise: Number(otherwise) } }),
		effect,
	}));
	expect(rows).toEqual(faultNames.map(({ plan: _plan, ...described }) => described));
});
