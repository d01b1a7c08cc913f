import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { createMemoryRecords } from '../../../test/support/memory-records.ts';
import { createRecordingLog } from '../../../test/support/recording-log.ts';
import { streamOf } from '../../core/byte-stream.ts';
import { noMetrics } from '../../core/metrics.ts';
import type { Notice } from '../../core/notice.ts';
import type { Upstream, UpstreamRequest } from '../../core/upstream.ts';
import { UpstreamError } from '../../core/upstream-error.ts';
import type { WebhookDeliveries } from '../../stores/contracts/webhook-deliveries.ts';
import { WebhookDispatcher } from './webhook-dispatcher.ts';
import type { WebhookSettings } from './webhook-settings.ts';

const secret = 'canary-secret-of-the-webhook';

const webhook = (name: string, changed: Partial<WebhookSettings> = {}): WebhookSettings => ({
	name,
	url: `https://${name}.example.com/in/tollgate`,
	secret,
	events: ['budget.warning', 'budget.exceeded', 'provider.ejected', 'provider.recovered'],
	canReachPrivateNetwork: false,
	credentialExpiryMs: 1,
	minAnomalyNanoUsd: 0n,
	...changed,
});

const notice = (subject: string, changed: Partial<Notice> = {}): Notice => ({
	event: 'budget.warning',
	subject,
	repeatsUntilMs: Date.UTC(2027, 0, 1),
	data: { team: subject },
	...changed,
});

type Respond = (request: UpstreamRequest) => number | Error | Promise<number>;

interface Bench {
	readonly clock: ManualClock;
	readonly log: ReturnType<typeof createRecordingLog>;
	readonly sent: UpstreamRequest[];
	readonly deliveries: WebhookDeliveries;
	respond: Respond;
	/** Starts a process that shares the store. */
	start(webhooks?: readonly WebhookSettings[], store?: WebhookDeliveries): WebhookDispatcher;
	/** Advances the clock in steps between which pending work runs. */
	pass(ms: number, stepMs?: number): Promise<void>;
	states(): Promise<string[]>;
}

const textOf = ({ body }: UpstreamRequest): string => (Buffer.isBuffer(body) ? body.toString() : '');

interface SentEvent {
	readonly id: string;
	readonly event: string;
	readonly time: string;
	readonly data: Readonly<Record<string, unknown>>;
}

const eventOf = (request: UpstreamRequest): SentEvent => JSON.parse(textOf(request)) as SentEvent;

const settled = async (): Promise<void> => {
	for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
};

function createBench(respond: Respond = () => 204): Bench {
	const clock = new ManualClock(Date.UTC(2026, 10, 26, 12));
	const log = createRecordingLog();
	const records = createMemoryRecords(clock);
	const { webhookDeliveries: deliveries } = records;
	const sent: UpstreamRequest[] = [];
	let ids = 0;
	const upstream: Upstream = async (request) => {
		sent.push(request);
		const status = await bench.respond(request);
		if (typeof status !== 'number') throw status;
		return { status, headers: {}, body: streamOf([Buffer.from('x'.repeat(10_000))]) };
	};
	const bench: Bench = {
		clock,
		log,
		sent,
		deliveries,
		respond,
		start(webhooks = [webhook('ops')], store = deliveries) {
			const ports = { upstream, deliveries: store, clock, log, metrics: noMetrics, chance: () => 0.999, newId: () => `id-${ids++}` };
			const dispatcher = new WebhookDispatcher(webhooks, ports);
			dispatcher.start();
			return dispatcher;
		},
		async pass(ms, stepMs = ms) {
			for (let passed = 0; passed < ms; passed += stepMs) {
				clock.advance(stepMs);
				await settled();
			}
		},
		states: async () => (await deliveries.list({ limit: 100 })).deliveries.map(({ state, attempts }) => `${state} ${attempts}`),
	};
	onTestFinished(() => records.close());
	return bench;
}

test('an event is signed and delivered to each webhook that wants it', async () => {
	const bench = createBench();
	const dispatcher = bench.start([webhook('ops'), webhook('chat'), webhook('other', { events: ['spend.anomaly'] })]);
	dispatcher.notify(notice('red'));
	dispatcher.notify(notice('blue', { webhooks: ['chat'] }));
	await bench.pass(0);
	await bench.pass(1);
	expect(bench.sent.map(({ origin }) => origin).toSorted()).toEqual([
		'https://chat.example.com',
		'https://chat.example.com',
		'https://ops.example.com',
	]);
	const [first] = bench.sent;
	expect(first).toMatchObject({ method: 'POST', target: '/in/tollgate', canReachPrivateNetwork: false });
	expect(first?.headers).toMatchObject({ 'content-type': 'application/json', 'user-agent': 'tollgate-webhooks' });
	expect(first?.headers['x-tollgate-signature']).toMatch(/^t=1795694400,v1=[0-9a-f]{64}$/);
	const event = first === undefined ? undefined : eventOf(first);
	expect(event?.id).toMatch(/^evt_[0-9a-f]{32}$/);
	expect(event).toEqual({ id: event?.id, event: 'budget.warning', time: '2026-11-26T12:00:00.000Z', data: { team: 'red' } });
	expect(await bench.states()).toEqual(['delivered 1', 'delivered 1', 'delivered 1']);
	await dispatcher.stop();
	expect(bench.clock.pending).toBe(0);
});

test('what several processes notice is delivered once, and again only as another event', async () => {
	const bench = createBench();
	const processes = [bench.start(), bench.start(), bench.start()];
	for (const one of processes) one.notify(notice('red'));
	await bench.pass(6000, 1000);
	for (const one of processes) one.notify(notice('red'));
	processes[0]?.notify(notice('red', { event: 'budget.exceeded' }));
	await bench.pass(6000, 1000);
	expect(bench.sent.map((request) => eventOf(request).event)).toEqual(['budget.warning', 'budget.exceeded']);
	for (const one of processes) await one.stop();
});

test('of a provider, only changes of its state over all processes are delivered', async () => {
	const bench = createBench();
	const processes = [bench.start(), bench.start()];
	const report = async (process: number, state: string, atMs: number): Promise<void> => {
		processes[process]?.notify({
			...notice(`provider_a ${atMs}`, { event: state === 'ejected' ? 'provider.ejected' : 'provider.recovered' }),
			change: { subject: 'provider:provider_a', state },
		});
		await bench.pass(1000);
	};
	for (const [index, [process, state]] of [
		[0, 'ejected'] as const,
		[1, 'ejected'] as const,
		[0, 'healthy'] as const,
		[1, 'healthy'] as const,
		[1, 'ejected'] as const,
	].entries()) {
		await report(process, state, index);
	}
	expect(bench.sent.map((request) => eventOf(request).event)).toEqual(['provider.ejected', 'provider.recovered', 'provider.ejected']);
	for (const one of processes) await one.stop();
});

test('a failed delivery is repeated with the same body and a fresh signature, until the receiver accepts it', async () => {
	const responses: (number | Error)[] = [
		500,
		new UpstreamError('provider_unreachable'),
		new UpstreamError('provider_total_timeout'),
		301,
		200,
	];
	const bench = createBench(() => responses.shift() ?? 200);
	const dispatcher = bench.start();
	dispatcher.notify(notice('red'));
	await bench.pass(0);
	const errors: unknown[] = [];
	for (let attempt = 1; attempt <= 4; attempt++) {
		await bench.pass(1);
		const { deliveries } = await dispatcher.list({ limit: 1 });
		errors.push(deliveries[0]?.error, deliveries[0]?.status);
		expect(bench.sent).toHaveLength(attempt);
		await bench.pass(1000 * 2 ** (attempt - 1), 500);
	}
	await bench.pass(2000, 500);
	expect(errors).toEqual(['status', 500, 'unreachable', null, 'timeout', null, 'redirect', 301]);
	expect(bench.sent).toHaveLength(5);
	expect(new Set(bench.sent.map(textOf)).size).toBe(1);
	expect(new Set(bench.sent.map(({ headers }) => headers['x-tollgate-signature'])).size).toBe(5);
	expect(await bench.states()).toEqual(['delivered 5']);
	expect(bench.log.lines.map(({ event }) => event)).toEqual(['webhook delivery failed: it is tried again']);
	await dispatcher.stop();
});

test('a receiver that fails for a day is given up, and the log says so without the secret', async () => {
	const bench = createBench(() => 503);
	const dispatcher = bench.start();
	dispatcher.notify(notice('red'));
	await bench.pass(0);
	await bench.pass(25 * 3_600_000, 60_000);
	const [state] = await bench.states();
	expect(state).toMatch(/^failed 3\d$/);
	const { length } = bench.sent;
	await bench.pass(3 * 3_600_000, 600_000);
	expect(bench.sent).toHaveLength(length);
	expect(bench.log.lines.map(({ level }) => level)).toEqual(['warn', 'error']);
	expect(JSON.stringify([bench.log.lines, await dispatcher.list({ limit: 10 })])).not.toContain(secret);
	await dispatcher.stop();
});

test('a slow receiver has at most four requests in flight, and delays no other', async () => {
	const held: ((status: number) => void)[] = [];
	const bench = createBench(({ origin }) => (origin.includes('slow') ? new Promise((resolve) => held.push(resolve)) : 200));
	const dispatcher = bench.start([webhook('slow'), webhook('ops')]);
	for (let index = 0; index < 10; index++) dispatcher.notify(notice(`team-${index}`));
	await bench.pass(0);
	await bench.pass(20_000, 1000);
	expect(bench.sent.filter(({ origin }) => origin.includes('slow'))).toHaveLength(4);
	expect(bench.sent.filter(({ origin }) => origin.includes('ops'))).toHaveLength(10);
	while (held.length > 0) {
		for (const resolve of held.splice(0)) resolve(200);
		await bench.pass(3, 1);
	}
	expect(new Set(await bench.states())).toEqual(new Set(['delivered 1']));
	await dispatcher.stop();
});

test('events wait for a store that is unavailable, in order', async () => {
	const bench = createBench();
	let isDown = true;
	const store: WebhookDeliveries = {
		...bench.deliveries,
		add: (...given) => (isDown ? Promise.reject(new UpstreamError('records_unavailable')) : bench.deliveries.add(...given)),
	};
	const dispatcher = bench.start(undefined, store);
	for (const team of ['red', 'blue']) dispatcher.notify(notice(team));
	await bench.pass(10_000, 500);
	expect(bench.sent).toEqual([]);
	isDown = false;
	await bench.pass(10_000, 500);
	expect(bench.sent.map((request) => eventOf(request).data['team'])).toEqual(['red', 'blue']);
	await dispatcher.stop();
});

test('a stop ends attempts after two seconds, and the next process repeats them at once', async () => {
	const bench = createBench(() => new Promise<number>(() => undefined));
	const abortable: Upstream = (request) =>
		new Promise((_, reject) => {
			bench.sent.push(request);
			request.onClientDisconnect(() => reject(new UpstreamError('provider_unreachable')));
		});
	const { clock, log, deliveries } = bench;
	const ports = { upstream: abortable, deliveries, clock, log, metrics: noMetrics, chance: () => 0, newId: () => 'id' };
	const first = new WebhookDispatcher([webhook('ops')], ports);
	first.start();
	first.notify(notice('red'));
	await bench.pass(0);
	await bench.pass(1);
	expect(bench.sent).toHaveLength(1);
	first.notify(notice('blue'));
	const stopped = first.stop();
	await bench.pass(2000);
	await stopped;
	expect(await bench.states()).toEqual(['pending 0', 'pending 0']);
	bench.respond = () => 200;
	const second = bench.start();
	await bench.pass(1);
	expect(bench.sent).toHaveLength(3);
	expect(await bench.states()).toEqual(['delivered 1', 'delivered 1']);
	await second.stop();
});

test('a process that died in an attempt leaves it to the next one', async () => {
	const bench = createBench(() => new Promise<number>(() => undefined));
	bench.start().notify(notice('red'));
	await bench.pass(0);
	await bench.pass(1);
	bench.respond = () => 200;
	const second = bench.start();
	await bench.pass(29_000, 1000);
	expect(bench.sent).toHaveLength(1);
	await bench.pass(10_000, 1000);
	expect(bench.sent).toHaveLength(2);
	await second.stop();
});

test('a test event is sent once, whatever events the webhook wants, and logged', async () => {
	const bench = createBench(() => 500);
	const dispatcher = bench.start([webhook('ops', { events: ['spend.anomaly'] })]);
	expect(await dispatcher.test('none')).toBeUndefined();
	expect(await dispatcher.test('ops')).toMatchObject({ status: 500, error: 'status' });
	bench.respond = () => 200;
	expect(await dispatcher.test('ops')).toMatchObject({ status: 200, error: null });
	await bench.pass(3_600_000, 60_000);
	expect(bench.sent).toHaveLength(2);
	expect(await bench.states()).toEqual(['delivered 1', 'failed 1']);
	await dispatcher.stop();
});

test('without webhooks nothing is stored, and a reload adds one', async () => {
	const bench = createBench();
	const dispatcher = bench.start([]);
	dispatcher.notify(notice('red'));
	await bench.pass(10_000, 1000);
	expect([await bench.states(), bench.clock.pending]).toEqual([[], 0]);
	dispatcher.configure([webhook('ops')]);
	dispatcher.notify(notice('blue'));
	await bench.pass(10, 1);
	expect(await bench.states()).toEqual(['delivered 1']);
	await dispatcher.stop();
});
