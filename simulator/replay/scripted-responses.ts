/** Queues recorded exchanges, which replace the responses to the next requests of a key, model or wire dialect. */
import { type MatchedRequest, matchesRequest, type RequestMatch } from '../faults/fault-rules.ts';
import type { ResponseScript } from '../plan/plan-response.ts';

export interface Recording {
	readonly status: number;
	readonly headers: Readonly<Record<string, string>>;
	readonly body: Buffer;
	/** Sizes of the pieces in which the body is sent. */
	readonly cut: ReplayCut;
	readonly intervalMs: number;
}

/** `none`: one piece. `events`: after each blank line. `bytes`: random sizes between the two, inclusive. */
export type ReplayCut = 'none' | 'events' | { readonly bytes: readonly [number, number]; readonly seed: number };

export type QueuedResponse = { readonly recording: Recording } | { readonly script: ResponseScript };

export interface ReplayQueue {
	/** @returns false when the queue is full, without a change. */
	add(match: RequestMatch, response: QueuedResponse, count: number): boolean;
	/** Takes the first recording that matches this request, and removes it after its last use. */
	take(call: MatchedRequest): QueuedResponse | undefined;
	size(): number;
	clear(): void;
}

const maxQueued = 10_000;
const maxQueuedBytes = 134_217_728;

export function createReplayQueue(): ReplayQueue {
	let queue: { readonly match: RequestMatch; readonly response: QueuedResponse; remaining: number }[] = [];
	const bytesOf = (response: QueuedResponse): number => ('recording' in response ? response.recording.body.length : 0);
	return {
		add(match, response, count) {
			const queuedBytes = queue.reduce((sum, entry) => sum + bytesOf(entry.response), 0);
			if (queue.length >= maxQueued || queuedBytes + bytesOf(response) > maxQueuedBytes) return false;
			queue.push({ match, response, remaining: count });
			return true;
		},
		take(call) {
			const index = queue.findIndex((entry) => matchesRequest(entry.match, call));
			const entry = queue[index];
			if (entry === undefined) return undefined;
			entry.remaining -= 1;
			if (entry.remaining <= 0) queue.splice(index, 1);
			return entry.response;
		},
		size: () => queue.length,
		clear() {
			queue = [];
		},
	};
}
