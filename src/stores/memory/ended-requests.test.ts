import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRequestIds } from '../../io/request-ids.ts';
import { endedRetentionMs } from '../contracts/admission.ts';
import { EndedRequests } from './ended-requests.ts';

const startMs = Date.UTC(2026, 10, 22);
const newId = createRequestIds({ nowMs: () => startMs, monotonicMs: () => 0, after: () => ({ cancel: () => undefined }) });

test('agrees with a set of all requests', () => {
	const request = fc.record({ team: fc.constantFrom('a', 'b', 'ab', ''), id: fc.string({ maxLength: 3 }), isRequested: fc.boolean() });
	fc.assert(
		fc.property(fc.array(request, { maxLength: 200 }), (requests) => {
			const ended = new EndedRequests();
			const all = new Set<string>();
			for (const { team, id, isRequested } of requests) {
				const key = JSON.stringify([team, id]);
				expect(ended.has(team, id, startMs)).toBe(all.has(key));
				if (!isRequested) expect(ended.add(team, id, startMs)).toBe(!all.has(key));
				if (!isRequested) all.add(key);
			}
		}),
		{ numRuns: 60 },
	);
});

test('a request is forgotten fifteen minutes after its end', () => {
	const ended = new EndedRequests();
	ended.add('team', 'one', startMs);
	expect(ended.add('team', 'one', startMs + endedRetentionMs - 1000)).toBe(false);
	expect(ended.has('team', 'one', startMs + endedRetentionMs)).toBe(false);
	expect(ended.add('team', 'one', startMs + endedRetentionMs)).toBe(true);
});

test('nothing is known after it was cleared', () => {
	const ended = new EndedRequests();
	ended.add('team', 'one', startMs);
	ended.clear();
	expect(ended.has('team', 'one', startMs)).toBe(false);
});

test('of a million requests the latest are known, in the memory of few', () => {
	const ended = new EndedRequests();
	const ids = Array.from({ length: 1_000_000 }, newId);
	const { arrayBuffers } = process.memoryUsage();
	ids.forEach((id, index) => ended.add('team', id, startMs + Math.floor(index / 5)));
	expect(process.memoryUsage().arrayBuffers - arrayBuffers).toBeLessThan(1e6);
	const nowMs = startMs + 200_000;
	const forgotten = ids.slice(-100_000).filter((id) => !ended.has('team', id, nowMs));
	expect(forgotten.length).toBeLessThan(50);
	expect(Array.from({ length: 100_000 }, newId).filter((id) => ended.has('team', id, nowMs))).toEqual([]);
});
