import { test } from 'vitest';
import { expectNothingLost } from '../support/accounting-crash.ts';

test.for(['memory', 'redis'] as const)(
	'killed 100 times under load, with counters in %s: nothing is lost, duplicated or still reserved',
	(counters) => {
		return expectNothingLost(100, counters, { waitsForReservations: true });
	},
);
