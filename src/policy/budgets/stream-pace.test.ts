import { expect, test } from 'vitest';
import { StreamPace } from './stream-pace.ts';

/** @param eventsAtOnce events that arrive together, each of this many tokens. */
function paceOf(
	arrivals: number,
	{ eventsAtOnce, tokens, everyMs }: { eventsAtOnce: number; tokens: number; everyMs: number },
): StreamPace {
	const pace = new StreamPace();
	for (let index = 1; index <= arrivals; index++) {
		pace.arrived(index * eventsAtOnce * tokens, index * eventsAtOnce, index * everyMs);
	}
	return pace;
}

test('nothing is in flight before anything has arrived', () => {
	expect(new StreamPace()).toMatchObject({ inFlightTokens: 0, pieceTokens: 0 });
});

test('events that arrive one by one leave two of them in flight, and what is generated until the abort arrives', () => {
	const pace = paceOf(200, { eventsAtOnce: 1, tokens: 3, everyMs: 20 });
	expect(pace.pieceTokens).toBe(3);
	expect(pace.tokensWithin(1000)).toBe(150);
	// 3 tokens in flight, 3 that follow, and 50 ms at 150 tokens a second.
	expect(pace.inFlightTokens).toBe(3 + Math.ceil(3 + 7.5));
});

test('events that arrive together are a sign of a busy process: up to four times as much is in flight', () => {
	expect(paceOf(200, { eventsAtOnce: 10, tokens: 3, everyMs: 200 }).inFlightTokens).toBe(30 + Math.ceil(3 * 30 + 7.5));
});

test('an arrival that is larger than usual counts at once', () => {
	const pace = paceOf(10, { eventsAtOnce: 1, tokens: 3, everyMs: 20 });
	const before = pace.inFlightTokens;
	pace.arrived(130, 40, 220);
	expect(pace.pieceTokens).toBe(100);
	expect(pace.inFlightTokens).toBeGreaterThan(before + 97);
});

test('what brings no new tokens changes nothing', () => {
	const pace = paceOf(10, { eventsAtOnce: 1, tokens: 3, everyMs: 20 });
	const { inFlightTokens } = pace;
	pace.arrived(30, 11, 5000);
	pace.arrived(12, 12, 5001);
	expect(pace.inFlightTokens).toBe(inFlightTokens);
});

test('the first arrival is a usual one', () => {
	const pace = new StreamPace();
	pace.arrived(8, 1, 0);
	expect(pace).toMatchObject({ pieceTokens: 8, inFlightTokens: 8 + 8 });
});

test('a rate is measured over a quarter of a second at least, then in the mean', () => {
	const pace = new StreamPace();
	pace.arrived(10, 1, 0);
	pace.arrived(20, 2, 249);
	expect(pace.tokensWithin(1000)).toBe(0);
	pace.arrived(30, 3, 250);
	expect(pace.tokensWithin(1000)).toBe(80);
	pace.arrived(230, 4, 500);
	expect(pace.tokensWithin(1000)).toBe(440);
});
