import { test } from 'vitest';
import { expectNoLostEntries } from '../support/accounting-crash.ts';

test.for(['memory', 'redis'] as const)(
	'killed 5 times under load, with counters in %s: nothing is lost, duplicated or still reserved',
	{ timeout: 90_000 },
	(counters) => {
		return expectNoLostEntries(5, counters, { waitsForReservations: false });
	},
);
