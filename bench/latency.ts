/** Open-loop load: requests leave at a fixed rate whatever the answers do, so that waiting is counted, not hidden. */
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Target } from './targets.ts';

export interface Latency {
	readonly p50Ms: number;
	readonly p99Ms: number;
}

export async function measureLatency(target: Target, body: string, requestsPerSecond: number, seconds: number): Promise<Latency> {
	const agent = new Agent({ keepAlive: true, maxSockets: 256 });
	const samplesMs: number[] = [];
	await send(agent, target, body);
	const total = Math.floor(requestsPerSecond * seconds);
	const startMs = performance.now();
	const pending: Promise<void>[] = [];
	for (let sent = 0; sent < total; sent += 1) {
		const dueMs = startMs + (sent * 1000) / requestsPerSecond;
		// Never a busy wait: the provider shares this core, and would be kept from it for a time slice.
		while (performance.now() < dueMs) await sleep(1);
		pending.push(send(agent, target, body).then((ms) => void samplesMs.push(ms)));
	}
	await Promise.all(pending);
	agent.destroy();
	return { p50Ms: quantile(samplesMs, 0.5), p99Ms: quantile(samplesMs, 0.99) };
}

export function quantile(samples: readonly number[], share: number): number {
	const sorted = samples.toSorted((a, b) => a - b);
	return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function send(agent: Agent, target: Target, body: string): Promise<number> {
	return new Promise((resolve, reject) => {
		const startMs = performance.now();
		const outgoing = request(`${target.url}/v1/chat/completions`, {
			agent,
			method: 'POST',
			headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...target.headers },
		});
		outgoing.once('error', reject);
		outgoing.once('response', (response) => {
			response.resume();
			response.once('error', reject);
			response.once('end', () => {
				if (response.statusCode === 200) resolve(performance.now() - startMs);
				else reject(new Error(`${target.name} answered ${response.statusCode}`));
			});
		});
		outgoing.end(body);
	});
}
