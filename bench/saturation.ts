/** Closed-loop load: requests a second and CPU a request. */
import type { Target } from './targets.ts';
import { type Load, runWrk } from './wrk.ts';

export interface Saturation {
	readonly requestsPerSecond: number;
	readonly cpuMicrosPerRequest: number;
}

const warmUpSeconds = 3;
const rounds = 5;

/** The least disturbed of five rounds: what shares the machine can double a round's cost. */
export async function saturate(target: Target, body: string, seconds: number, directory: string): Promise<Saturation> {
	const load = { connections: 32, threads: 1, directory };
	// Until the compilers have seen what is hot.
	await runWrk(target, body, { ...load, seconds: warmUpSeconds });
	const measured: Saturation[] = [];
	for (let round = 0; round < rounds; round++) measured.push(await saturateOnce(target, body, { ...load, seconds: seconds / rounds }));
	return measured.reduce((least, one) => (one.cpuMicrosPerRequest < least.cpuMicrosPerRequest ? one : least));
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
