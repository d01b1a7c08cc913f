/** Simulator that listens, with a clock that never makes a test wait. */

import { createSimulator } from '../../simulator/simulator.ts';
import type { SimulatorSettings } from '../../simulator/simulator-settings.ts';
import type { Clock } from '../../src/core/clock.ts';
import { serveHandler } from './serve-handler.ts';

export interface TestClock extends Clock {
	/** Advances the clock and runs due tasks in order. */
	advance(ms: number): void;
	/** Number of waiting timers. */
	waiting(): number;
}

/**
 * @param skippedMs - timers up to this delay run in the next iteration of the event loop, as if the time had passed; longer ones wait for
 * `advance`.
 */
export function createTestClock(skippedMs = 100): TestClock {
	let nowMs = 0;
	let waiting: { readonly atMs: number; readonly task: () => void }[] = [];
	return {
		nowMs: () => 1_790_000_000_000 + nowMs,
		monotonicMs: () => nowMs,
		after(delayMs, task) {
			if (delayMs <= skippedMs) {
				const immediate = setImmediate(() => {
					nowMs += delayMs;
					task();
				});
				return { cancel: () => clearImmediate(immediate) };
			}
			const entry = { atMs: nowMs + delayMs, task };
			waiting.push(entry);
			return { cancel: () => void (waiting = waiting.filter((other) => other !== entry)) };
		},
		advance(ms) {
			const endMs = nowMs + ms;
			for (;;) {
				const due = waiting.filter((entry) => entry.atMs <= endMs).toSorted((a, b) => a.atMs - b.atMs)[0];
				if (due === undefined) break;
				waiting = waiting.filter((entry) => entry !== due);
				nowMs = due.atMs;
				due.task();
			}
			nowMs = endMs;
		},
		waiting: () => waiting.length,
	};
}

export interface BillTotal {
	readonly requests: number;
	readonly complete: number;
	readonly aborted: number;
	readonly broken: number;
	readonly rejected: number;
	readonly replayed: number;
	readonly input_tokens: number;
	readonly cache_write_tokens: number;
	readonly cache_read_tokens: number;
	readonly output_tokens: number;
	readonly reasoning_tokens: number;
	readonly web_search_calls: number;
}

export interface ObservedRequest {
	readonly id: string;
	readonly key: string;
	readonly model: string;
	readonly status: number;
	readonly outcome: string;
	readonly events: number;
	readonly tokens: { readonly input: number; readonly output: number; readonly reasoning: number };
	readonly headers: Readonly<Record<string, string>>;
	readonly body?: string;
	readonly body_bytes: number;
	readonly body_sha256: string;
}

export interface StartedSimulator {
	readonly origin: string;
	readonly clock: TestClock;
	readonly outages: readonly number[];
	control(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }>;
	bill(): Promise<{ total: BillTotal; lines: (BillTotal & { key: string; dialect: string; model: string })[] }>;
	requests(query?: string): Promise<ObservedRequest[]>;
	close(): Promise<void>;
}

export async function startSimulator(settings: Partial<SimulatorSettings> = {}, clock = createTestClock()): Promise<StartedSimulator> {
	const outages: number[] = [];
	const simulator = createSimulator(settings, { clock, setOutage: (seconds) => void outages.push(seconds) });
	const served = await serveHandler(simulator.handle);
	const control = async (method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> => {
		const response = await fetch(`${served.origin}/_simulator${path}`, {
			method,
			...(body === undefined ? {} : { body: JSON.stringify(body) }),
		});
		const text = await response.text();
		return { status: response.status, body: text === '' ? null : JSON.parse(text) };
	};
	return {
		origin: served.origin,
		clock,
		outages,
		control,
		bill: async () => (await control('GET', '/bill')).body as Awaited<ReturnType<StartedSimulator['bill']>>,
		requests: async (query = '') => ((await control('GET', `/requests${query}`)).body as { data: ObservedRequest[] }).data,
		close: served.close,
	};
}
