/** Closed-loop load: requests a second and CPU a request. */
import type { Target } from './targets.ts';
import { type Load, runWrk } from './wrk.ts';

export interface Saturation {
	readonly requestsPerSecond: number;
	readonly cpuMicrosPerRequest: number;
}

const warmUpSeconds = 3;
const rounds = 7;

/**
 * Of each target the least disturbed of some rounds, in alternation: what shares the machine can double a round's cost, and slows all
 * of it down for minutes.
 */
export async function saturateInTurn(targets: readonly Target[], body: string, seconds: number, directory: string): Promise<Saturation[]> {
	const load = { connections: 32, threads: 1, directory };
	// Until the compilers have seen what is hot.
	for (const target of targets) await runWrk(target, body, { ...load, seconds: warmUpSeconds });
	const measured = targets.map((): Saturation[] => []);
	for (let round = 0; round < rounds; round++) {
		for (const [index, target] of targets.entries()) {
			// A process that rested has let go of some of what made it fast.
			await runWrk(target, body, { ...load, seconds: 1 });
			measured[index]?.push(await saturateOnce(target, body, { ...load, seconds }));
		}
	}
	return measured.map((ofTarget) => ofTarget.reduce((least, one) => (one.cpuMicrosPerRequest < least.cpuMicrosPerRequest ? one : least)));
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
