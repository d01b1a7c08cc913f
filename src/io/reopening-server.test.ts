import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { createRecordingLog } from '../../test/support/recording-log.ts';
import { until } from '../../test/support/until.ts';
import { createHttpServer, defaultHttpServerLimits } from './http1/server/http-server.ts';
import { ReopeningServer } from './reopening-server.ts';
import { createRequestIds } from './request-ids.ts';
import { systemClock } from './system-clock.ts';

async function start() {
	const clock = new ManualClock();
	let opened = 0;
	const server = new ReopeningServer((port) => {
		opened++;
		return createHttpServer(() => Promise.resolve({ status: 200, headers: {}, body: 'here' }), {
			listen: { host: '127.0.0.1', port: port ?? 0 },
			limits: defaultHttpServerLimits,
			clock: systemClock,
			log: createRecordingLog(),
			newRequestId: createRequestIds(systemClock),
			renderRejection: () => ({ status: 400, headers: {}, body: null }),
		});
	}, clock);
	onTestFinished(() => server.destroy());
	const { port } = await server.start();
	const isHere = (): Promise<boolean> =>
		fetch(`http://127.0.0.1:${port}/`).then(
			(response) => response.ok,
			() => false,
		);
	const untilHere = async (): Promise<void> => {
		let isResponding = false;
		void (async () => {
			while (!isResponding) isResponding = await isHere();
		})();
		await until(() => isResponding, 'the server');
	};
	return { server, clock, port, isHere, untilHere, opened: () => opened };
}

test('closes for the requested time, then returns to its address', async () => {
	const { server, clock, isHere, untilHere } = await start();
	expect(await isHere()).toBe(true);
	server.closeFor(10);
	expect(await isHere()).toBe(false);
	clock.advance(9999);
	expect(await isHere()).toBe(false);
	clock.advance(1);
	await untilHere();
});

test('closed twice, it opens once: the latest time decides', async () => {
	const { server, clock, isHere, untilHere, opened } = await start();
	server.closeFor(10);
	clock.advance(5000);
	server.closeFor(10);
	clock.advance(5000);
	expect(await isHere()).toBe(false);
	clock.advance(5000);
	await untilHere();
	expect([opened(), clock.pending]).toEqual([2, 0]);
});

test('while another process uses its address it retries until that ends', async () => {
	const { server, clock, port, untilHere, opened } = await start();
	server.closeFor(1);
	const other = createServer();
	await new Promise<void>((resolve) => other.listen(port, '127.0.0.1', resolve));
	clock.advance(1000);
	await until(() => clock.pending === 1, 'the next try');
	await new Promise((resolve) => other.close(resolve));
	clock.advance(100);
	await untilHere();
	expect(opened()).toBe(3);
});

test.each(['drain', 'destroy'] as const)('after %s it never opens again', async (way) => {
	const { server, clock, isHere, opened } = await start();
	server.closeFor(1);
	server[way]();
	server.closeFor(1);
	clock.advance(5000);
	expect(await isHere()).toBe(false);
	expect([opened(), clock.pending]).toEqual([1, 0]);
});
