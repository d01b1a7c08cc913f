/**
 * Latency at a given rate, by wrk: many connections that pause at random between requests. The clocks of wrk count whole milliseconds, so
 * one thread would send one burst per millisecond. Therefore each thread has its own phase and its own random seed.
 */
import { stolenSeconds } from './processes.ts';
import { quantile } from './quantile.ts';
import type { Target } from './targets.ts';
import { runWrk } from './wrk.ts';

export interface Latency {
	readonly p50Ms: number;
	readonly p99Ms: number;
}

/** Latency through a target, and of the same load straight to the provider. */
export interface LatencyPair {
	readonly through: Latency;
	readonly direct: Latency;
}

export interface LatencyRun {
	readonly rounds: number;
	/** Duration of a round. */
	readonly seconds: number;
	readonly body: string;
	readonly directory: string;
}

const connections = 64;
const threads = 16;

export async function measureLatency(
	target: Target,
	body: string,
	requestsPerSecond: number,
	seconds: number,
	directory: string,
): Promise<Latency> {
	const maxPauseMs = Math.round((2 * connections * 1000) / requestsPerSecond);
	const output = await runWrk(target, body, {
		seconds,
		connections,
		threads,
		directory,
		script: [
			// Seeds each thread: by default all threads draw the same numbers, and send at the same time.
			'local count = 0',
			'function setup(thread) count = count + 1 thread:set("seed", count) end',
			'function init(args) math.randomseed(seed) end',
			`function delay() return math.random(0, ${maxPauseMs}) end`,
			`function done(summary, latency, requests) io.write(string.format("p50_us=%f p99_us=%f\\n", latency:percentile(50), latency:percentile(99))) end`,
		],
	});
	const [, p50Us, p99Us] = /p50_us=([\d.]+) p99_us=([\d.]+)/.exec(output) ?? [];
	return { p50Ms: Number(p50Us) / 1000, p99Ms: Number(p99Us) / 1000 };
}

/**
 * Measures in alternation, and takes the median of each target's least disturbed rounds: pauses of the machine hit one side or the other.
 */
export async function compareLatencies(
	provider: Target,
	loads: readonly { readonly target: Target; readonly rate: number }[],
	{ rounds, seconds, body, directory }: LatencyRun,
): Promise<LatencyPair[]> {
	const measured = loads.map((): Round[] => []);
	const read = (target: Target, rate: number): Promise<Latency> => measureLatency(target, body, rate, seconds, directory);
	// Warm-up: the runtime compiles code again that becomes hot at this rate.
	for (const { target, rate } of [...loads, ...loads]) await read(target, rate);
	for (let round = 0; round < rounds; round++) {
		for (const [index, { target, rate }] of loads.entries()) {
			const stolenBefore = stolenSeconds();
			const direct = await read(provider, rate);
			// Warm-up after a rest: an idle process loses some of its caches, and the provider has not been idle.
			await measureLatency(target, body, rate, 1, directory);
			const through = await read(target, rate);
			measured[index]?.push({ direct, through, stolenSeconds: stolenSeconds() - stolenBefore });
		}
	}
	return measured.map((all) => {
		const targetFields = minDisturbedHalf(all);
		return { direct: medianOf(targetFields.map(({ direct }) => direct)), through: medianOf(targetFields.map(({ through }) => through)) };
	});
}

interface Round extends LatencyPair {
	readonly stolenSeconds: number;
}

/** Selects by the time stolen by other machines, not by the measured values. */
function minDisturbedHalf(rounds: readonly Round[]): readonly Round[] {
	const max = quantile(
		rounds.map((round) => round.stolenSeconds),
		0.5,
	);
	return rounds.filter((round) => round.stolenSeconds <= max);
}

function medianOf(rounds: readonly Latency[]): Latency {
	const median = (measurements: number[]): number => quantile(measurements, 0.5);
	return { p50Ms: median(rounds.map(({ p50Ms }) => p50Ms)), p99Ms: median(rounds.map(({ p99Ms }) => p99Ms)) };
}
