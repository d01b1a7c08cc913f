import { expect, test } from 'vitest';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { recordedRequest } from '../../../test/support/recorded-request.ts';
import { createRecordingLog } from '../../../test/support/recording-log.ts';
import type { BuiltBlock } from './block-builder.ts';
import { maxQueuedRecords, maxRecordsPerBlock, RequestRecordQueue } from './request-record-queue.ts';

const startMs = Date.UTC(2026, 10, 21);

function setUp() {
	const clock = new ManualClock(startMs);
	const log = createRecordingLog();
	const written: BuiltBlock[] = [];
	const state = { isBroken: false };
	const queue = new RequestRecordQueue({
		async write(block) {
			if (state.isBroken) throw new Error('no space left');
			written.push(block);
		},
		clock,
		log,
		name: 'requests.db',
	});
	const settle = () => new Promise((resolve) => setImmediate(resolve));
	return { clock, log, written, state, queue, settle };
}

test('requests of half a second share a block; those that took long have their own', async () => {
	const { clock, written, queue, settle } = setUp();
	for (let index = 0; index < 5; index++) queue.add(recordedRequest(startMs + index, index));
	queue.add(recordedRequest(startMs - 6000, 5, { durationMs: 6000 }));
	queue.add(recordedRequest(startMs - 60_000, 6, { durationMs: 60_000 }));
	clock.advance(499);
	await settle();
	expect(written).toEqual([]);
	clock.advance(1);
	await settle();
	expect(written.map(({ count, minMs, maxMs }) => [count, minMs, maxMs])).toEqual([
		[5, startMs, startMs + 4],
		[1, startMs - 6000, startMs - 6000],
		[1, startMs - 60_000, startMs - 60_000],
	]);
});

test('a full block is written at once', async () => {
	const { clock, written, queue, settle } = setUp();
	for (let index = 0; index <= maxRecordsPerBlock; index++) queue.add(recordedRequest(startMs, index));
	clock.advance(0);
	await settle();
	expect(written.map(({ count }) => count)).toEqual([maxRecordsPerBlock]);
	expect(queue.health().queuedRecords).toBe(1);
	clock.advance(500);
	await settle();
	expect(written.map(({ count }) => count)).toEqual([maxRecordsPerBlock, 1]);
});

test('blocks wait while they cannot be written; the outage is logged once', async () => {
	const { clock, log, written, state, queue, settle } = setUp();
	state.isBroken = true;
	queue.add(recordedRequest(startMs, 1));
	await expect(queue.flush()).rejects.toThrow('no space left');
	queue.add(recordedRequest(startMs, 2));
	for (let tries = 0; tries < 3; tries++) {
		clock.advance(2000);
		await settle();
	}
	expect(queue.health()).toEqual({ isWritable: false, queuedRecords: 2, droppedRecords: 0 });
	expect(log.lines.map(({ event }) => event)).toEqual(['request records cannot be written and are queued']);
	state.isBroken = false;
	clock.advance(2000);
	await settle();
	expect(queue.health()).toEqual({ isWritable: true, queuedRecords: 0, droppedRecords: 0 });
	expect(written.map(({ count }) => count)).toEqual([1, 1]);
});

test('records beyond the bound, and after the end, are dropped and counted', async () => {
	const { state, queue } = setUp();
	state.isBroken = true;
	const request = recordedRequest(startMs, 1);
	for (let index = 0; index < maxQueuedRecords + 7; index++) queue.add(request);
	expect(queue.health()).toEqual({ isWritable: true, queuedRecords: maxQueuedRecords, droppedRecords: 7 });
	await queue.end();
	queue.add(request);
	expect(queue.health()).toEqual({ isWritable: false, queuedRecords: 0, droppedRecords: maxQueuedRecords + 8 });
});
