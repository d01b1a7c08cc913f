import { expect, test } from 'vitest';
import { ManualClock } from '../../../../test/support/manual-clock.ts';
import { createRecordingLog } from '../../../../test/support/recording-log.ts';
import type { Assessment } from '../../contracts/assessments.ts';
import { AssessmentQueue, maxQueuedAssessments } from './assessment-queue.ts';

const found = (requestId: string): Assessment => ({
	requestId,
	atMs: 0,
	team: 'red',
	stage: 'input',
	policy: 'pii',
	category: 'email',
	action: 'NONE',
	outcome: 'matched',
	count: 1,
});

function createQueue() {
	const clock = new ManualClock();
	const log = createRecordingLog();
	const written: string[] = [];
	const disk = { isBroken: false };
	const queue = new AssessmentQueue({
		write: async (rows) => {
			if (disk.isBroken) throw new Error('no space left');
			written.push(...rows.map(([id]) => id));
		},
		clock,
		log,
	});
	const turns = async (): Promise<void> => {
		for (let turn = 0; turn < 20; turn++) await Promise.resolve();
	};
	return { queue, clock, log, written, disk, turns };
}

test('what was added is written by itself, in order, once', async () => {
	const { queue, clock, written, turns } = createQueue();
	queue.add([found('a'), found('b')]);
	queue.add([found('c')]);
	expect(written).toEqual([]);
	clock.advance(100);
	await turns();
	expect(written).toEqual(['a', 'b', 'c']);
	await queue.flush();
	expect(written).toEqual(['a', 'b', 'c']);
});

test('while the disk fails they wait and are written later; one line is logged', async () => {
	const { queue, clock, log, written, disk, turns } = createQueue();
	disk.isBroken = true;
	queue.add([found('a')]);
	for (let second = 0; second < 3; second++) {
		clock.advance(1000);
		await turns();
	}
	await expect(queue.flush()).rejects.toThrow('no space left');
	expect(log.lines).toHaveLength(1);
	disk.isBroken = false;
	queue.add([found('b')]);
	clock.advance(1000);
	await turns();
	expect([written, queue.dropped]).toEqual([['a', 'b'], 0]);
});

test('what finds no room is dropped and counted, and so is what cannot be written at the end', async () => {
	const { queue, disk } = createQueue();
	disk.isBroken = true;
	queue.add(Array.from({ length: maxQueuedAssessments + 5 }, (_, index) => found(`${index}`)));
	expect(queue.dropped).toBe(5);
	await queue.end();
	expect(queue.dropped).toBe(maxQueuedAssessments + 5);
	queue.add([found('late')]);
	expect(queue.dropped).toBe(maxQueuedAssessments + 6);
});
