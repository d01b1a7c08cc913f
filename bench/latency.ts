/**
 * Latency at a given rate, by wrk: many connections that pause at random between requests. Its clocks count whole milliseconds,
 * so that one thread would send in bursts, one a millisecond; each thread here has its own phase.
 */
import type { Target } from './targets.ts';
import { runWrk } from './wrk.ts';

export interface Latency {
	readonly p50Ms: number;
	readonly p99Ms: number;
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
	const longestPauseMs = Math.round((2 * connections * 1000) / requestsPerSecond);
	const output = await runWrk(target, body, {
		seconds,
		connections,
		threads,
		directory,
		script: [
			`function delay() return math.random(0, ${longestPauseMs}) end`,
			`function done(summary, latency, requests) io.write(string.format("p50_us=%f p99_us=%f\\n", latency:percentile(50), latency:percentile(99))) end`,
		],
	});
	const [, p50Us, p99Us] = /p50_us=([\d.]+) p99_us=([\d.]+)/.exec(output) ?? [];
	return { p50Ms: Number(p50Us) / 1000, p99Ms: Number(p99Us) / 1000 };
}
