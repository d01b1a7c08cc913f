/** Streams: CPU per event, delay of each event, time to first event, memory per open stream. */
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from './quantile.ts';
import type { Target } from './targets.ts';

export interface StreamLoad {
	/** Concurrent streams; they begin within a second. */
	readonly streams: number;
	/** Events of each stream. */
	readonly events: number;
	readonly intervalMs: number;
}

export interface StreamCost {
	readonly cpuMicrosPerEvent: number;
	readonly delayP50Ms: number;
	readonly delayP99Ms: number;
	readonly firstEventP50Ms: number;
}

export async function measureStreams(target: Target, load: StreamLoad): Promise<StreamCost> {
	const delaysMs: number[] = [];
	const firstMs: number[] = [];
	let events = 0;
	const before = target.cpuSeconds();
	const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
	const open = Array.from({ length: load.streams }, async (_, index) => {
		await sleep(index * (10 + load.intervalMs / load.streams));
		const startMs = performance.now();
		let isFirst = true;
		await readStream(agent, target, load, (sentMs) => {
			const nowMs = performance.timeOrigin + performance.now();
			if (isFirst) firstMs.push(performance.now() - startMs);
			isFirst = false;
			events += 1;
			delaysMs.push(nowMs - sentMs);
		});
	});
	await Promise.all(open);
	agent.destroy();
	const cpuSeconds = target.cpuSeconds() - before;
	if (events !== load.streams * load.events) throw new Error(`${target.name} delivered ${events} of ${load.streams * load.events} events`);
	return {
		cpuMicrosPerEvent: (cpuSeconds / events) * 1e6,
		delayP50Ms: quantile(delaysMs, 0.5),
		delayP99Ms: quantile(delaysMs, 0.99),
		firstEventP50Ms: quantile(firstMs, 0.5),
	};
}

/** Results through a target, and of the same load straight to the provider. */
export interface StreamPair {
	readonly through: StreamCost;
	readonly direct: StreamCost;
}

/**
 * Measures in alternation, after two warm-up rounds: the median of delays, the minimum of CPU.
 * @returns undefined for a target that does not relay these streams.
 */
export async function compareStreams(
	provider: Target,
	targets: readonly Target[],
	{ rounds, ...load }: StreamLoad & { readonly rounds: number },
): Promise<(StreamPair | undefined)[]> {
	const relaying = new Map<Target, { through: StreamCost[]; direct: StreamCost[] }>();
	await measureStreams(provider, load);
	for (const target of targets) {
		try {
			for (let round = 0; round < 2; round++) await measureStreams(target, load);
			relaying.set(target, { through: [], direct: [] });
		} catch (cause) {
			console.log(`${target.name} does not relay the streams: ${String(cause)}`);
		}
	}
	for (let round = 0; round < rounds; round++) {
		for (const [target, costs] of relaying) {
			costs.direct.push(await measureStreams(provider, load));
			costs.through.push(await measureStreams(target, load));
		}
	}
	return targets.map((target) => {
		const costs = relaying.get(target);
		return costs === undefined ? undefined : { through: typical(costs.through), direct: typical(costs.direct) };
	});
}

function typical(rounds: readonly StreamCost[]): StreamCost {
	const median = (read: (cost: StreamCost) => number): number => quantile(rounds.map(read), 0.5);
	return {
		cpuMicrosPerEvent: Math.min(...rounds.map((cost) => cost.cpuMicrosPerEvent)),
		delayP50Ms: median((cost) => cost.delayP50Ms),
		delayP99Ms: median((cost) => cost.delayP99Ms),
		firstEventP50Ms: median((cost) => cost.firstEventP50Ms),
	};
}

/** Resident bytes per open stream, in addition to those of the idle process. */
export async function measureStreamMemory(target: Target, streams: number): Promise<number> {
	const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
	const load = { events: 4, intervalMs: 4000 };
	await readStream(agent, target, { events: 2, intervalMs: 1 }, () => {});
	await sleep(500);
	const before = target.residentBytes();
	const open = Array.from({ length: streams }, async (_, index) => {
		await sleep(index * 2);
		await readStream(agent, target, load, () => {});
	});
	await sleep(streams * 2 + 3000);
	const bytes = (target.residentBytes() - before) / streams;
	await Promise.all(open);
	agent.destroy();
	return bytes;
}

/** Runs `onEvent` with the time each event was written; resolves after `[DONE]` and the end. */
function readStream(
	agent: Agent,
	target: Target,
	load: { events: number; intervalMs: number },
	onEvent: (sentMs: number) => void,
): Promise<void> {
	const body = JSON.stringify({
		model: `gpt-${load.events}-${load.intervalMs}`,
		messages: [{ role: 'user', content: 'Stream.' }],
		stream: true,
	});
	return new Promise((resolve, reject) => {
		const outgoing = request(`${target.url}/v1/chat/completions`, {
			agent,
			method: 'POST',
			headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...target.headers },
		});
		outgoing.once('error', reject);
		outgoing.once('response', (response) => {
			let text = '';
			let isDone = false;
			response.setEncoding('latin1');
			response.on('data', (piece: string) => {
				text += piece;
				for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
					const event = text.slice(0, end);
					text = text.slice(end + 2);
					const sent = /t=([\d.]+)/.exec(event)?.[1];
					if (sent !== undefined) onEvent(Number(sent));
					isDone ||= event === 'data: [DONE]';
				}
			});
			response.once('error', reject);
			response.once('end', () => {
				if (response.statusCode === 200 && isDone) resolve();
				else reject(new Error(`${target.name}: a stream ended early (status ${response.statusCode})`));
			});
		});
		outgoing.end(body);
	});
}
