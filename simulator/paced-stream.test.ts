import { expect, test } from 'vitest';
import type { ByteFlow } from '../src/core/handler.ts';
import { createTestClock } from '../test/support/start-simulator.ts';
import type { BreakOff } from './faults/fault-plan.ts';
import { pacedStream } from './paced-stream.ts';
import type { WireEvent } from './wires/wire.ts';

interface Watched {
	readonly clock: ReturnType<typeof createTestClock>;
	readonly flow: ByteFlow;
	/** Chunks that the sink received, in order. */
	readonly got: string[];
	readonly outcomes: string[];
	sentTokens: number;
	takesMore: boolean;
}

function watch(breakOff?: BreakOff, count = 5): Watched {
	const clock = createTestClock(-1);
	const events = Array.from({ length: count }, (_value, index): WireEvent => ({ bytes: `e${index};`, outputTokens: 2 })).values();
	const watched: { -readonly [Key in keyof Watched]: Watched[Key] } = {
		clock,
		flow: { resume: () => undefined, cancel: () => undefined },
		got: [],
		outcomes: [],
		sentTokens: 0,
		takesMore: true,
	};
	const pace = { firstEventMs: 10, intervalMs: 10, breakOff };
	const stream = pacedStream(events, pace, clock, () => 'error;', {
		onSent: (event) => {
			watched.sentTokens += event.outputTokens;
		},
		onOver: (outcome) => void watched.outcomes.push(outcome),
	});
	watched.flow = stream.start({
		write(chunk) {
			watched.got.push(chunk.toString());
			return watched.takesMore;
		},
		end: () => void watched.got.push('end'),
		fail: () => void watched.got.push('fail'),
	});
	return watched;
}

test('one event each interval, then the end', () => {
	const watched = watch();
	watched.clock.advance(30);
	expect(watched.got).toEqual(['e0;', 'e1;', 'e2;']);
	watched.clock.advance(1000);
	expect(watched.got).toEqual(['e0;', 'e1;', 'e2;', 'e3;', 'e4;', 'end']);
	expect(watched).toMatchObject({ outcomes: ['complete'], sentTokens: 10 });
});

test('a sink that wants silence gets it until it resumes, and resuming twice is once', () => {
	const watched = watch();
	watched.takesMore = false;
	watched.clock.advance(1000);
	expect(watched.got).toEqual(['e0;']);
	watched.flow.resume();
	watched.flow.resume();
	watched.clock.advance(1000);
	expect(watched.got).toEqual(['e0;', 'e1;']);
	expect(watched.sentTokens).toBe(4);
});

test('cancel ends it: no event, no timer, one outcome', () => {
	const watched = watch();
	watched.clock.advance(20);
	watched.flow.cancel();
	watched.flow.cancel();
	watched.flow.resume();
	expect(watched.clock.waiting()).toBe(0);
	watched.clock.advance(1000);
	expect(watched).toMatchObject({ got: ['e0;', 'e1;'], outcomes: ['aborted'], sentTokens: 4 });
});

test.each<[BreakOff['manner'], string[]]>([
	['stall', ['e0;', 'e1;', 'fail']],
	['cut', ['e0;', 'e1;', 'fail']],
	['cut-inside', ['e0;', 'e1;', 'e2', 'fail']],
	['end', ['e0;', 'e1;', 'end']],
	['error-event', ['e0;', 'e1;', 'error;', 'end']],
])('%s after two events', (manner, got) => {
	const watched = watch({ afterEvents: 2, manner });
	watched.clock.advance(1000);
	if (manner === 'stall') {
		watched.flow.resume();
		watched.clock.advance(590_000);
		expect(watched.got).toEqual(['e0;', 'e1;']);
		watched.clock.advance(20_000);
	}
	expect(watched).toMatchObject({ got, outcomes: ['broken'], sentTokens: 4 });
});
