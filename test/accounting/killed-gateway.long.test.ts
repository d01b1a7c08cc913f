import { test } from 'vitest';
import { expectNoLostEntries } from '../support/accounting-crash.ts';

test.for(['memory', 'redis'] as const)(
	'killed 100 times under load, with counters in %s: nothing is lost, duplicated or still reserved',
	(counters) => {
		return expectNoLostEntries(100, counters, { waitsForReservations: true });
	},
);
