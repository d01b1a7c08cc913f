/** Closed-loop load: requests per second and CPU per request. */
import type { Target } from './targets.ts';
import { type Load, runWrk } from './wrk.ts';

export interface Saturation {
	readonly requestsPerSecond: number;
	readonly cpuMicrosPerRequest: number;
}

const warmUpSeconds = 3;
const rounds = 7;

/**
 * Takes the least disturbed of several rounds for each target, in alternation. Other processes can double a round's cost, and slow down all
 * rounds for minutes.
 */
export async function saturateInOrder(targets: readonly Target[], body: string, seconds: number, directory: string): Promise<Saturation[]> {
	const load = { connections: 32, threads: 1, directory };
	// Warm-up: the runtime compiles what is hot.
	for (const target of targets) await runWrk(target, body, { ...load, seconds: warmUpSeconds });
	const measured = targets.map((): Saturation[] => []);
	for (let round = 0; round < rounds; round++) {
		for (const [index, target] of targets.entries()) {
			// Warm-up after a rest: an idle process loses some of its caches.
			await runWrk(target, body, { ...load, seconds: 1 });
			measured[index]?.push(await saturateOnce(target, body, { ...load, seconds }));
		}
	}
	return measured.map((targetFields) => targetFields.reduce((min, one) => (one.cpuMicrosPerRequest < min.cpuMicrosPerRequest ? one : min)));
}

async function saturateOnce(target: Target, body: string, load: Load): Promise<Saturation> {
	const before = target.cpuSeconds();
	const output = await runWrk(target, body, load);
	const cpuSeconds = target.cpuSeconds() - before;
	const requests = Number(/(\d+) requests in/.exec(output)?.[1]);
	const perSecond = Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1]);
	if (!(requests > 0)) throw new Error(`${target.name} failed under load:\n${output}`);
	return { requestsPerSecond: perSecond, cpuMicrosPerRequest: (cpuSeconds / requests) * 1e6 };
}
