/** Recorded exchanges that wait to be the answer to the next calls of a key, model or wire. */
import { type CallMatch, type MatchedCall, matchesCall } from '../faults/fault-rules.ts';
import type { AnswerScript } from '../plan/plan-answer.ts';

export interface Recording {
	readonly status: number;
	readonly headers: Readonly<Record<string, string>>;
	readonly body: Buffer;
	/** The sizes of the pieces in which the body is sent. */
	readonly cut: ReplayCut;
	readonly intervalMs: number;
}

/** `none`: one piece. `events`: after each blank line. `bytes`: sizes drawn between the two, both included. */
export type ReplayCut = 'none' | 'events' | { readonly bytes: readonly [number, number]; readonly seed: number };

export type QueuedAnswer = { readonly recording: Recording } | { readonly script: AnswerScript };

export interface ReplayQueue {
	/** @returns false when the queue is full; nothing changed then. */
	add(match: CallMatch, answer: QueuedAnswer, count: number): boolean;
	/** The first that is meant for this call; used up when its count is. */
	take(call: MatchedCall): QueuedAnswer | undefined;
	size(): number;
	clear(): void;
}

const mostQueued = 10_000;
const mostQueuedBytes = 134_217_728;

export function createReplayQueue(): ReplayQueue {
	let queue: { readonly match: CallMatch; readonly answer: QueuedAnswer; remaining: number }[] = [];
	const bytesOf = (answer: QueuedAnswer): number => ('recording' in answer ? answer.recording.body.length : 0);
	return {
		add(match, answer, count) {
			const queuedBytes = queue.reduce((sum, entry) => sum + bytesOf(entry.answer), 0);
			if (queue.length >= mostQueued || queuedBytes + bytesOf(answer) > mostQueuedBytes) return false;
			queue.push({ match, answer, remaining: count });
			return true;
		},
		take(call) {
			const index = queue.findIndex((entry) => matchesCall(entry.match, call));
			const entry = queue[index];
			if (entry === undefined) return undefined;
			entry.remaining -= 1;
			if (entry.remaining <= 0) queue.splice(index, 1);
			return entry.answer;
		},
		size: () => queue.length,
		clear() {
			queue = [];
		},
	};
}
