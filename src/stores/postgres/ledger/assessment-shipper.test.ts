import { expect, test } from 'vitest';
import { ManualClock } from '../../../../test/support/manual-clock.ts';
import { createRecordingLog } from '../../../../test/support/recording-log.ts';
import { AssessmentShipper } from './assessment-shipper.ts';

function createShipper(count: number) {
	const clock = new ManualClock();
	const log = createRecordingLog();
	let retained = Array.from({ length: count }, (_, index) => index + 1);
	const sent: number[] = [];
	const server = { isUnavailable: false };
	const shipper = new AssessmentShipper({
		unsent: {
			async read(limit) {
				const some = retained.slice(0, limit);
				return { through: some.at(-1) ?? 0, count: some.length, assessments: JSON.stringify(some) };
			},
			async forget(through) {
				retained = retained.filter((one) => one > through);
			},
		},
		async send(assessments) {
			if (server.isUnavailable) throw new Error('connection refused');
			sent.push(...(JSON.parse(assessments) as number[]));
		},
		clock,
		log,
	});
	const turns = async (): Promise<void> => {
		for (let turn = 0; turn < 50; turn++) await Promise.resolve();
	};
	return { shipper, clock, log, sent, server, turns, retained: () => retained };
}

test('sends all that is there, a part at a time, and forgets it', async () => {
	const { shipper, sent, retained } = createShipper(4100);
	await shipper.flush();
	expect([sent.length, new Set(sent).size, retained().length]).toEqual([4100, 4100, 0]);
});

test('keeps everything while the server is unavailable, and sends it when it is back', async () => {
	const { shipper, clock, log, sent, server, turns, retained } = createShipper(3);
	server.isUnavailable = true;
	shipper.wake();
	for (let second = 0; second < 3; second++) {
		clock.advance(1000);
		await turns();
	}
	expect([sent, retained(), log.lines.length]).toEqual([[], [1, 2, 3], 1]);
	server.isUnavailable = false;
	clock.advance(1000);
	await turns();
	expect([sent, retained()]).toEqual([[1, 2, 3], []]);
});

test('sends nothing by itself after its end', async () => {
	const { shipper, clock, sent, turns } = createShipper(3);
	shipper.wake();
	shipper.end();
	clock.advance(5000);
	await turns();
	expect(sent).toEqual([]);
});
