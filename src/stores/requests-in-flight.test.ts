import { expect, test } from 'vitest';
import { CallsInFlight } from './requests-in-flight.ts';

const call = (id: string, holdMs: number) => ({ id, team: 'red', requestsPerMinute: null, dailyTokens: null, holds: [], holdMs });

test('a call that is started twice is one call', () => {
	const calls = new CallsInFlight();
	for (let time = 0; time < 2; time++) calls.start(call('one', 1000), 0);
	expect(calls.ids()).toEqual(['one']);
	calls.end('one');
	expect(calls.ids()).toEqual([]);
});

test('whose time is over is forgotten when the others are asked for', () => {
	const calls = new CallsInFlight();
	calls.start(call('short', 1000), 0);
	calls.start(call('long', 5000), 0);
	expect(calls.held(calls.ids(), 1000)).toEqual(
		new Map([['red', [{ id: 'long', admittedMs: 0, holdMs: 4000, reservedTokens: 0, holds: [] }]]]),
	);
	expect(calls.ids()).toEqual(['long']);
});
