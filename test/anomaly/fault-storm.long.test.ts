/** Environment variables: FAULT_STORM_MINUTES is the duration (default 20), FAULT_STORM_SEED the seed (default: the clock). */
import { test } from 'vitest';
import { expectCorrectLedger } from './fault-storm.contract.ts';

const minutes = Number(process.env['FAULT_STORM_MINUTES'] ?? 20);
const seed = Number(process.env['FAULT_STORM_SEED'] ?? Date.now() % 1_000_000);

test(
	'the books are right after every fault on every link, and deaths of all',
	() => expectCorrectLedger({ seed, seconds: minutes * 60, deaths: ['gateway', 'gateway', 'redis', 'postgres', 'pause'] }),
	(minutes + 6) * 60_000,
);
