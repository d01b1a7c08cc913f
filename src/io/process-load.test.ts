import { expect, onTestFinished, test, vi } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import type { Clock } from '../core/clock.ts';
import { yieldToEventLoop } from '../core/cooperative-task.ts';
import type { LoadSample } from '../policy/overload/load-shedder.ts';
import { watchProcessLoad } from './process-load.ts';
import { systemClock } from './system-clock.ts';

test('work that waits to be resumed counts as delay, however short each tick is', async () => {
	const samples: (LoadSample & { readonly atMs: number })[] = [];
	let readMs = 0;
	const recordingClock: Clock = { ...systemClock, monotonicMs: () => (readMs = systemClock.monotonicMs()) };
	const watch = watchProcessLoad(recordingClock, (sample) => samples.push({ ...sample, atMs: readMs }));
	const work = async (): Promise<void> => {
		await yieldToEventLoop();
		for (const endMs = systemClock.monotonicMs() + 2; systemClock.monotonicMs() < endMs; );
	};
	// Two hundred at once: the last one waits for 0.4 s, as long as a new task would.
	await Promise.all(Array.from({ length: 200 }, work));
	await new Promise((resolve) => setTimeout(resolve, 150));
	watch.stop();
	expect(Math.max(...samples.map(({ loopDelayMs }) => loopDelayMs))).toBeGreaterThan(250);
	// A late loop extends a sample beyond its 100 ms: it spans all time since the previous one.
	const spans = samples.slice(1).map(({ atMs }, index) => atMs - (samples[index]?.atMs ?? Number.NaN));
	expect(spans.length).toBeGreaterThanOrEqual(1);
	for (const [index, spanMs] of spans.entries()) expect(samples[index + 1]?.spanMs).toBeCloseTo(spanMs, 6);
});

test('an idle loop is checked once a sample, a busy one more often', async () => {
	let polls = 0;
	const samples: LoadSample[] = [];
	const counting: Clock = {
		...systemClock,
		after: (delayMs, task) => {
			polls += 1;
			return systemClock.after(delayMs, task);
		},
	};
	const watch = watchProcessLoad(counting, (sample) => samples.push(sample));
	onTestFinished(watch.stop);
	const until = (isEnough: () => boolean): Promise<void> =>
		vi.waitFor(() => expect(isEnough()).toBe(true), { timeout: 5_000, interval: 50 });
	await until(() => samples.some(({ busyShare }) => busyShare < 0.04));
	const [pollsBefore, samplesBefore] = [polls, samples.length];
	await until(() => samples.length >= samplesBefore + 5);
	const idleSamples = samples.slice(samplesBefore - 1);
	// Each sample that was not idle has up to five ticks.
	const busySamples = idleSamples.filter(({ busyShare }) => busyShare >= 0.05).length;
	expect(polls - pollsBefore).toBeLessThanOrEqual(idleSamples.length + 5 * busySamples);
	const work = setInterval(() => {
		for (const endMs = systemClock.monotonicMs() + 5; systemClock.monotonicMs() < endMs; );
	}, 10);
	onTestFinished(() => clearInterval(work));
	await until(() => (samples.at(-1)?.busyShare ?? 0) > 0.2);
	const [busyPolls, busyFrom] = [polls, samples.length];
	await until(() => samples.length >= busyFrom + 3);
	expect(polls - busyPolls).toBeGreaterThan(2 * 3);
});

test('startup ends after a second of processor time since the roles listen, in whatever wall-clock time', () => {
	const clock = new ManualClock();
	let workedMs = 5000;
	const samples: LoadSample[] = [];
	const watch = watchProcessLoad(
		clock,
		(sample) => samples.push(sample),
		() => workedMs,
	);
	onTestFinished(watch.stop);
	const isStarting = (): boolean | undefined => {
		clock.advance(200);
		return samples.at(-1)?.isStarting;
	};
	clock.advance(60_000);
	expect(isStarting(), 'it does not listen yet').toBe(true);
	watch.noteListening();
	clock.advance(60_000);
	workedMs += 999;
	expect(isStarting()).toBe(true);
	workedMs += 1;
	expect(isStarting()).toBe(false);
});
