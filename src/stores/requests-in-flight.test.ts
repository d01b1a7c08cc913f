import { expect, test } from 'vitest';
import { RequestsInFlight } from './requests-in-flight.ts';

const request = (id: string, reservationMs: number) => ({
	id,
	team: 'red',
	limits: [],
	reservations: [],
	reservationMs,
});

test('a request that is started twice is one request', () => {
	const requests = new RequestsInFlight();
	for (let time = 0; time < 2; time++) requests.start(request('one', 1000), 0);
	expect(requests.ids()).toEqual(['one']);
	requests.end('one');
	expect(requests.ids()).toEqual([]);
});

test('whose time is over is forgotten when the others are asked for', () => {
	const requests = new RequestsInFlight();
	requests.start(request('short', 1000), 0);
	requests.start(request('long', 5000), 0);
	expect(requests.reserved(requests.ids(), 1000)).toEqual(
		new Map([['red', [{ id: 'long', admittedMs: 0, reservationMs: 4000, reservedTokens: 0, reservations: [] }]]]),
	);
	expect(requests.ids()).toEqual(['long']);
});
