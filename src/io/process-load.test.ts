import { expect, test } from 'vitest';
import { ownTurn } from '../core/own-turn.ts';
import type { LoadSample } from '../policy/overload/load-shedder.ts';
import { watchProcessLoad } from './process-load.ts';
import { systemClock } from './system-clock.ts';

test('work that waits for its turn is lateness, however short each turn is', async () => {
	const samples: LoadSample[] = [];
	const stop = watchProcessLoad(systemClock, (sample) => samples.push(sample));
	const work = async (): Promise<void> => {
		await ownTurn();
		for (const endMs = systemClock.monotonicMs() + 2; systemClock.monotonicMs() < endMs; );
	};
	// Two hundred at once: the last one waits for four tenths of a second, as whoever asks now does.
	await Promise.all(Array.from({ length: 200 }, work));
	await new Promise((resolve) => setTimeout(resolve, 150));
	stop();
	expect(Math.max(...samples.map(({ loopDelayMs }) => loopDelayMs))).toBeGreaterThan(250);
	expect(samples.at(-1)?.spanMs).toBeGreaterThanOrEqual(100);
});
