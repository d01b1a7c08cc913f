/** Contract of every store of webhook deliveries. Each backend runs this unchanged. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type AttemptOutcome, maxAbandonedMs, type NewDelivery, type WebhookDeliveries } from './webhook-deliveries.ts';

export interface WebhookDeliveriesSubject {
	/** Two connections to the same deliveries, like those of two processes. */
	readonly stores: readonly [WebhookDeliveries, WebhookDeliveries];
	dispose(): Promise<void>;
}

const startMs = 1_800_000_000_000;

const delivery = (eventId: string, changed: Partial<NewDelivery> = {}): NewDelivery => ({
	webhook: 'ops',
	eventId,
	event: 'budget.warning',
	body: `{"id":"${eventId}","team":"ünï \\"x\\""}`,
	createdMs: startMs,
	keptUntilMs: startMs,
	...changed,
});

const ended: AttemptOutcome = {
	state: 'delivered',
	attempts: 1,
	lastAttemptMs: startMs + 5,
	nextAttemptMs: null,
	status: 204,
	error: null,
};

export function webhookDeliveriesContract(name: string, open: () => Promise<WebhookDeliveriesSubject>): void {
	describe(`webhook deliveries in ${name}`, () => {
		let subject: WebhookDeliveriesSubject;
		let here: WebhookDeliveries;
		let there: WebhookDeliveries;
		beforeEach(async () => {
			subject = await open();
			[here, there] = subject.stores;
		});
		afterEach(() => subject.dispose());

		const listed = async (store: WebhookDeliveries = there) => (await store.list({ limit: 100 })).deliveries;

		test('a new delivery is pending, due at once, and visible to every process', async () => {
			await here.add([delivery('evt_1')]);
			const expected = {
				...delivery('evt_1'),
				state: 'pending',
				attempts: 0,
				lastAttemptMs: null,
				nextAttemptMs: startMs,
				status: null,
				error: null,
			};
			expect(await listed(here)).toEqual([expected]);
			expect(await listed(there)).toEqual([expected]);
		});

		test('the same event is added once for each webhook, whatever became of it', async () => {
			await here.add([delivery('evt_1'), delivery('evt_1'), delivery('evt_1', { webhook: 'chat' })]);
			await there.add([delivery('evt_1', { body: '{}' })]);
			await here.note(delivery('evt_1'), ended);
			await there.add([delivery('evt_1')]);
			expect((await listed()).map(({ webhook, state, body }) => `${webhook} ${state} ${body}`).toSorted()).toEqual([
				`chat pending ${delivery('evt_1').body}`,
				`ops delivered ${delivery('evt_1').body}`,
			]);
		});

		test('processes that add the same events at once add each once', async () => {
			const events = Array.from({ length: 20 }, (_, index) => delivery(`evt_${index}`));
			await Promise.all([here.add(events), there.add(events.toReversed()), here.add(events), there.add([])]);
			expect(await listed()).toHaveLength(20);
		});

		test('a due delivery is taken once, and again when its time has come', async () => {
			await here.add([delivery('evt_1'), delivery('evt_2', { createdMs: startMs + 1 }), delivery('evt_3', { webhook: 'chat' })]);
			expect(await here.take('ops', startMs - 1, startMs + 30_000, 10)).toEqual([]);
			const taken = await Promise.all([
				here.take('ops', startMs + 1, startMs + 30_000, 10),
				there.take('ops', startMs + 1, startMs + 30_000, 10),
			]);
			expect(
				taken
					.flat()
					.map(({ eventId }) => eventId)
					.toSorted(),
			).toEqual(['evt_1', 'evt_2']);
			expect(await there.take('ops', startMs + 29_999, startMs + 60_000, 10)).toEqual([]);
			expect(await there.take('ops', startMs + 30_000, startMs + 60_000, 1)).toHaveLength(1);
			expect(await there.take('ops', startMs + 30_000, startMs + 60_000, 10)).toHaveLength(1);
		});

		test('an outcome is recorded until the delivery has ended', async () => {
			await here.add([delivery('evt_1')]);
			const failed: AttemptOutcome = { ...ended, state: 'pending', nextAttemptMs: startMs + 1000, status: 500, error: 'status' };
			await here.note(delivery('evt_1'), failed);
			expect(await listed()).toEqual([{ ...delivery('evt_1'), ...failed }]);
			await there.note(delivery('evt_1'), ended);
			await here.note(delivery('evt_1'), failed);
			await here.note(delivery('evt_9'), failed);
			expect(await listed()).toEqual([{ ...delivery('evt_1'), ...ended }]);
			expect(await here.take('ops', startMs + 10_000, startMs + 20_000, 10)).toEqual([]);
		});

		test('a delivery can be added with its outcome', async () => {
			await here.add([delivery('evt_1')], ended);
			expect(await listed()).toEqual([{ ...delivery('evt_1'), ...ended }]);
		});

		test('a subject changes its state once, in one process, and only then adds deliveries', async () => {
			const changes = await Promise.all([
				here.change('provider_a', 'ejected', [delivery('evt_1')]),
				there.change('provider_a', 'ejected', [delivery('evt_2')]),
			]);
			expect(changes.filter((isChanged) => isChanged)).toEqual([true]);
			expect(await listed()).toHaveLength(1);
			expect(await there.subjectsIn('ejected')).toEqual(['provider_a']);
			expect(await there.change('provider_a', 'healthy', [delivery('evt_3')])).toBe(true);
			expect(await here.change('provider_a', 'healthy', [delivery('evt_4')])).toBe(false);
			expect(await here.change('provider_a', 'ejected', [])).toBe(true);
			expect(await here.change('provider_b', 'ejected', [])).toBe(true);
			expect(await there.subjectsIn('ejected')).toEqual(['provider_a', 'provider_b']);
			expect(await listed()).toHaveLength(2);
		});

		test('pages are newest first, filtered, and complete', async () => {
			for (let index = 0; index < 7; index++) {
				await here.add([
					delivery(`evt_${index}`, { event: index % 2 === 0 ? 'budget.warning' : 'provider.ejected' }),
					delivery(`evt_${index}`, { webhook: 'chat' }),
				]);
			}
			await here.note(delivery('evt_2'), ended);
			const ids: string[] = [];
			let cursor: string | undefined;
			do {
				const page = await there.list({ webhook: 'ops', limit: 3, cursor });
				ids.push(...page.deliveries.map(({ eventId }) => eventId));
				cursor = page.nextCursor ?? undefined;
			} while (cursor !== undefined);
			expect(ids).toEqual(['evt_6', 'evt_5', 'evt_4', 'evt_3', 'evt_2', 'evt_1', 'evt_0']);
			const eventIds = async (query: object) => (await there.list({ limit: 100, ...query })).deliveries.map(({ eventId }) => eventId);
			expect(await eventIds({ event: 'provider.ejected' })).toEqual(['evt_5', 'evt_3', 'evt_1']);
			expect(await eventIds({ state: 'delivered' })).toEqual(['evt_2']);
			expect(await eventIds({ webhook: 'none' })).toEqual([]);
		});

		test.for(['', '0', '-1', '1.5', 'x', '1 OR 1=1'])('the cursor %j is no cursor', async (cursor) => {
			await expect(here.list({ limit: 10, cursor })).rejects.toThrow(RangeError);
		});

		test('a sweep removes the oldest ended deliveries of each webhook that need not be kept', async () => {
			for (let index = 0; index < 6; index++) {
				await here.add([delivery(`evt_${index}`, { keptUntilMs: index === 1 ? startMs + 100 : startMs })]);
				if (index !== 2) await here.note(delivery(`evt_${index}`), ended);
			}
			await here.add([delivery('evt_0', { webhook: 'chat' })], ended);
			await there.sweep(2, startMs + 50);
			expect((await listed()).map(({ webhook, eventId }) => `${webhook} ${eventId}`)).toEqual([
				'chat evt_0',
				'ops evt_5',
				'ops evt_4',
				'ops evt_2',
				'ops evt_1',
			]);
			await there.sweep(2, startMs + 100);
			expect((await listed()).map(({ eventId }) => eventId)).toEqual(['evt_0', 'evt_5', 'evt_4', 'evt_2']);
			await there.sweep(2, startMs + maxAbandonedMs + 1);
			expect((await listed()).map(({ eventId }) => eventId)).toEqual(['evt_0', 'evt_5', 'evt_4']);
		});
	});
}
