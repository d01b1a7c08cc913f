import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { testTraffic } from '../../../test/support/gateway-bench.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { createRecordingLog } from '../../../test/support/recording-log.ts';
import { ConcurrencyLimiter } from './concurrency-limiter.ts';
import { InFlightRequests } from './gateway-work.ts';
import { completed, RequestScope } from './request-scope/request-scope.ts';

const maxWaitMs = 1000;

class Bench {
	readonly clock = new ManualClock();
	readonly limiter = new ConcurrencyLimiter();
	/** Requests as `team number`, in the order in which they got a slot. */
	readonly admitted: string[] = [];
	/** Requests without a slot, with the reason. */
	readonly rejected: string[] = [];
	readonly #terms;
	readonly #requests = new InFlightRequests();
	readonly #running: { readonly team: string; readonly end: () => void }[] = [];

	constructor(maxConcurrent: number, maxQueued: number) {
		this.#terms = { ...testTraffic, maxConcurrent, maxQueued };
	}

	/** @returns a function that ends the request, queued or not. */
	async ask(team: string, number: number): Promise<() => void> {
		let leave = (): void => undefined;
		const scope = new RequestScope('', createRecordingLog());
		scope.recorder.identifyTeam({ id: team, name: team, tier: 'standard', clientIds: [] });
		this.#requests.add(scope, { onClientDisconnect: (listener) => (leave = listener) });
		const slot = this.limiter.acquire(scope, this.#terms, maxWaitMs, this.clock);
		Promise.resolve(slot).then(
			(cause) => {
				if (cause === undefined) {
					this.admitted.push(`${team} ${number}`);
					this.#running.push({ team, end: () => scope.end(completed(200)) });
				} else {
					this.rejected.push(`${team} ${number}: ${cause.code}`);
					scope.end(completed(200));
				}
			},
			() => scope.end(completed(200)),
		);
		await turn();
		return () => leave();
	}

	async requestAll(team: string, count: number): Promise<void> {
		for (let number = 1; number <= count; number++) await this.ask(team, number);
	}

	/** Ends the oldest request with a slot; by default, of any team. */
	async endOne(team?: string): Promise<boolean> {
		const index = this.#running.findIndex((one) => team === undefined || one.team === team);
		if (index === -1) return false;
		this.#running.splice(index, 1)[0]?.end();
		await turn();
		return true;
	}

	slots(): Record<string, number> {
		return Object.fromEntries([...Map.groupBy(this.#running, ({ team }) => team)].map(([team, all]) => [team, all.length]));
	}
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('slots of a provider', () => {
	let bench: Bench;

	beforeEach(() => {
		bench = new Bench(4, 8);
	});

	it('all go to one team while no other team has requests', async () => {
		await bench.requestAll('red', 12);
		expect([bench.slots(), bench.limiter.queued]).toEqual([{ red: 4 }, 8]);
	});

	it('that become free go to the queued team with the fewest, in any order of arrival', async () => {
		await bench.requestAll('red', 9);
		await bench.requestAll('blue', 3);
		await bench.endOne('red');
		await bench.endOne('red');
		expect(bench.slots()).toEqual({ red: 2, blue: 2 });
		await bench.endOne('blue');
		await bench.endOne('red');
		expect(bench.slots()).toEqual({ red: 2, blue: 2 });
		expect(bench.admitted.slice(4)).toEqual(['blue 1', 'blue 2', 'blue 3', 'red 5']);
	});

	it('go round among teams with equal shares, to the oldest request of each', async () => {
		await bench.requestAll('none', 4);
		for (const team of ['red', 'blue', 'green']) await bench.requestAll(team, 2);
		for (let ended = 0; ended < 4; ended++) await bench.endOne('none');
		for (let ended = 0; ended < 2; ended++) await bench.endOne();
		expect(bench.admitted.slice(4)).toEqual(['red 1', 'blue 1', 'green 1', 'red 2', 'blue 2', 'green 2']);
	});

	it('go to a team with a single request again when the others are done', async () => {
		await bench.requestAll('red', 8);
		await bench.requestAll('blue', 1);
		for (let ended = 0; ended < 4; ended++) await bench.endOne('red');
		await bench.endOne('blue');
		expect([bench.slots(), bench.limiter.queued]).toEqual([{ red: 4 }, 0]);
	});
});

describe('a full queue', () => {
	it('drops the latest request of the team with the largest share, until shares are equal', async () => {
		const bench = new Bench(2, 4);
		await bench.requestAll('red', 6);
		expect([bench.rejected, bench.limiter.queued]).toEqual([[], 4]);
		await bench.requestAll('blue', 4);
		expect(bench.rejected).toEqual(['red 6: provider_busy', 'red 5: provider_busy', 'red 4: provider_busy', 'blue 4: provider_busy']);
		expect(bench.limiter.queued).toBe(4);
		await bench.ask('red', 7);
		expect(bench.rejected.at(-1)).toBe('red 7: provider_busy');
	});

	it('of size zero rejects at once', async () => {
		const bench = new Bench(1, 0);
		await bench.requestAll('red', 1);
		await bench.requestAll('blue', 1);
		expect(bench.rejected).toEqual(['blue 1: provider_busy']);
	});
});

it('a request that waited too long, or whose client disconnected, leaves the queue to the others of its team', async () => {
	const bench = new Bench(1, 9);
	await bench.ask('red', 1);
	const leavers = [await bench.ask('blue', 1), await bench.ask('blue', 2), await bench.ask('blue', 3)];
	bench.clock.advance(maxWaitMs / 2);
	await bench.ask('blue', 4);
	leavers[1]?.();
	await turn();
	bench.clock.advance(maxWaitMs / 2);
	await turn();
	expect(bench.rejected).toEqual(['blue 1: provider_first_byte_timeout', 'blue 3: provider_first_byte_timeout']);
	await bench.endOne();
	expect(bench.admitted).toEqual(['red 1', 'blue 4']);
	await bench.endOne();
	expect([bench.limiter.inFlight, bench.limiter.queued, bench.clock.pending]).toEqual([0, 0, 0]);
});

it('whatever teams do, no slot stays free while a request waits, and all are free in the end', async () => {
	const step = fc.oneof(
		{ weight: 3, arbitrary: fc.record({ ask: fc.constantFrom('red', 'blue', 'green') }) },
		{ weight: 2, arbitrary: fc.record({ end: fc.constantFrom('red', 'blue', 'green') }) },
		{ weight: 1, arbitrary: fc.record({ leave: fc.nat(50) }) },
	);
	await fc.assert(
		fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 4 }), fc.nat(6), async (steps, slots, queue) => {
			const bench = new Bench(slots, queue);
			const leavers: (() => void)[] = [];
			for (const [number, one] of steps.entries()) {
				if ('ask' in one) leavers.push(await bench.ask(one.ask, number));
				else if ('end' in one) await bench.endOne(one.end);
				else leavers[one.leave]?.();
				await turn();
				expect(bench.limiter.queued).toBeLessThanOrEqual(queue);
				expect(bench.limiter.inFlight).toBeLessThanOrEqual(slots);
				if (bench.limiter.queued > 0) expect(bench.limiter.inFlight).toBe(slots);
			}
			for (const leave of leavers) leave();
			await turn();
			while (await bench.endOne()) await turn();
			expect([bench.limiter.inFlight, bench.limiter.queued, bench.clock.pending]).toEqual([0, 0, 0]);
		}),
		{ numRuns: 150 },
	);
}, 20_000);
