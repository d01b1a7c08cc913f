import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import type { Listener } from './http1/server/http-server.ts';
import { ServingRole, type ServingRoleOptions } from './serving-role.ts';

/** A server that records the calls to it, and becomes idle when the test says so. */
class ScriptedServer implements Listener {
	readonly actions: string[] = [];
	inFlight = 0;
	openConnections = 0;
	becomeIdle: () => void = () => undefined;
	failure: Error | undefined;

	async start(): Promise<{ host: string; port: number }> {
		this.actions.push('start');
		if (this.failure !== undefined) throw this.failure;
		return { host: '127.0.0.1', port: 1 };
	}

	drain(): void {
		this.actions.push('drain');
	}

	idle(): Promise<void> {
		if (this.inFlight === 0) return Promise.resolve();
		return new Promise((resolve) => {
			this.becomeIdle = () => {
				this.inFlight = 0;
				resolve();
			};
		});
	}

	destroy(): void {
		this.actions.push('destroy');
	}
}

function make(options: Partial<ServingRoleOptions> = {}) {
	const clock = new ManualClock();
	const server = new ScriptedServer();
	const role = new ServingRole('gateway', server, { clock, graceMs: () => 1000, ...options });
	return { clock, server, role, actions: server.actions };
}

async function settle(): Promise<void> {
	await new Promise((resolve) => setImmediate(resolve));
}

describe('start', () => {
	test('waits for its preparation first', async () => {
		let arrive = (): void => undefined;
		const { role, actions, clock } = make({ beforeStart: () => new Promise<void>((resolve) => (arrive = resolve)) });
		const started = role.start();
		await settle();
		expect(actions).toEqual([]);
		arrive();
		await started;
		expect(actions).toEqual(['start']);
		expect(clock.pending).toBe(0);
	});

	test('but not for longer than a second', async () => {
		const { role, actions, clock } = make({ beforeStart: () => new Promise(() => undefined) });
		const started = role.start();
		clock.advance(999);
		await settle();
		expect(actions).toEqual([]);
		clock.advance(1);
		await started;
		expect(actions).toEqual(['start']);
	});

	test("rejects with the system's error", async () => {
		const { role, server } = make();
		server.failure = new Error('EADDRINUSE');
		await expect(role.start()).rejects.toBe(server.failure);
	});
});

describe('stop', () => {
	test('is immediate without in-flight requests', async () => {
		const { role, actions, clock } = make({ endInFlightRequests: () => actions.push('end') });
		await role.stop();
		expect(actions).toEqual(['drain', 'destroy']);
		expect(clock.pending).toBe(0);
	});

	test('waits for in-flight requests, no longer', async () => {
		const { role, server, actions, clock } = make({ endInFlightRequests: () => actions.push('end') });
		server.inFlight = 1;
		const stopped = role.stop();
		clock.advance(999);
		await settle();
		expect(actions).toEqual(['drain']);
		server.becomeIdle();
		await stopped;
		expect(actions).toEqual(['drain', 'destroy']);
	});

	test('ends requests that outlive the grace time, and gives them two seconds to send their error', async () => {
		const { role, server, actions, clock } = make({ endInFlightRequests: () => actions.push('end') });
		server.inFlight = 1;
		const stopped = role.stop();
		clock.advance(1000);
		await settle();
		expect(actions).toEqual(['drain', 'end']);
		clock.advance(1999);
		await settle();
		expect(actions).toEqual(['drain', 'end']);
		clock.advance(1);
		await stopped;
		expect(actions).toEqual(['drain', 'end', 'destroy']);
	});

	test('the farewell is over as soon as all clients have received it', async () => {
		const { role, server, actions, clock } = make({ endInFlightRequests: () => server.becomeIdle() });
		server.inFlight = 1;
		const stopped = role.stop();
		clock.advance(1000);
		await stopped;
		expect(actions).toEqual(['drain', 'destroy']);
	});

	test('without a farewell it does not wait', async () => {
		const { role, server, actions, clock } = make({ graceMs: () => 0 });
		server.inFlight = 1;
		const stopped = role.stop();
		clock.advance(0);
		await stopped;
		expect(actions).toEqual(['drain', 'destroy']);
	});
});
