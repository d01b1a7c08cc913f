import { test } from 'vitest';
import { expectCorrectLedger } from './fault-storm.contract.ts';

test(
	'the books are right after four seconds of faults',
	() => expectCorrectLedger({ seed: 49, seconds: 4, deaths: ['postgres', 'pause'] }),
	120_000,
);
