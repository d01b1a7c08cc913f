/**
 * Stores an event for each webhook that wants it, and delivers stored events. Processes that share the store add an event once, and one of
 * them sends it. A receiver may still get it twice, if a process dies between the response and the record of it.
 */
import { createHash } from 'node:crypto';
import type { Timer } from '../../core/clock.ts';
import type { Counter } from '../../core/metrics.ts';
import type { Notice, NoticeEvent, Notify } from '../../core/notice.ts';
import { nextAttemptMs } from '../../policy/notifications/retry-delay.ts';
import type { AttemptOutcome, Delivery, DeliveryPage, DeliveryQuery, NewDelivery } from '../../stores/contracts/webhook-deliveries.ts';
import { maxSendMs, type SendResult, sendWebhook } from './send-webhook.ts';
import type { WebhookPorts, WebhookSettings } from './webhook-settings.ts';

/** Notices that wait for the store. */
const maxQueued = 1000;
const maxStoredAtOnce = 50;
const maxInFlightPerWebhook = 4;
/** Deliveries in the log of each webhook. */
const maxLogged = 1000;
const pollMs = 5000;
const sweepMs = 3_600_000;
/** Time for which a delivery belongs to the process that sends it. */
const takenMs = maxSendMs + 20_000;
/** Wait for attempts in flight at the shutdown, and then for the record of those that were cut. */
const maxStopMs = 2000;
const maxRecordMs = 1000;

export const testEvent = 'webhook.test';

export interface TestOutcome extends SendResult {
	readonly eventId: string;
	readonly durationMs: number;
}

export class WebhookDispatcher {
	#webhooks: readonly WebhookSettings[];
	readonly #ports: WebhookPorts;
	readonly #queue: Notice[] = [];
	readonly #inFlight = new Map<string, Set<Promise<void>>>();
	readonly #aborts = new Set<() => void>();
	readonly #attempts: Counter;
	readonly #dropped: Counter;
	#storing: Promise<void> | undefined;
	#storeTimer: Timer | undefined;
	#storeFailures = 0;
	#polling: Promise<void> | undefined;
	#timer: Timer | undefined;
	#dueMs = 0;
	#sweptMs = Number.NEGATIVE_INFINITY;
	#isStarted = false;
	#isStopped = false;

	constructor(webhooks: readonly WebhookSettings[], ports: WebhookPorts) {
		this.#webhooks = webhooks;
		this.#ports = ports;
		this.#attempts = ports.metrics.counter('tollgate_webhook_attempts_total', 'Attempts to deliver an event to a webhook.', [
			'webhook',
			'result',
		]);
		this.#dropped = ports.metrics.counter(
			'tollgate_webhook_events_dropped_total',
			'Webhook events that were lost because the store was unavailable for too long.',
		);
	}

	/** Begins to deliver what is stored. */
	start(): void {
		this.#isStarted = true;
		if (this.#webhooks.length > 0) this.#pollIn(0);
	}

	get webhooks(): readonly WebhookSettings[] {
		return this.#webhooks;
	}

	configure(webhooks: readonly WebhookSettings[]): void {
		this.#webhooks = webhooks;
		if (webhooks.length > 0) this.#pollIn(0);
	}

	/** Queues a notice for the store. */
	readonly notify: Notify = (notice) => {
		if (!this.#webhooks.some((webhook) => isWanted(notice, webhook)) && notice.change === undefined) return;
		if (this.#webhooks.length === 0 || this.#isStopped) return;
		if (this.#queue.length >= maxQueued) {
			this.#dropped.add();
			return;
		}
		this.#queue.push(notice);
		this.#store();
	};

	/** Sends a test event once and logs the delivery. @returns undefined for an unknown webhook. */
	async test(name: string): Promise<TestOutcome | undefined> {
		const webhook = this.#webhooks.find((one) => one.name === name);
		if (webhook === undefined) return undefined;
		const { clock, deliveries, newId } = this.#ports;
		const eventId = `evt_${createHash('sha256').update(newId()).digest('hex').slice(0, 32)}`;
		const createdMs = clock.nowMs();
		const body = bodyOf(eventId, testEvent, createdMs, { webhook: name });
		const startedMs = clock.monotonicMs();
		const result = await sendWebhook(webhook, body, this.#ports);
		const durationMs = Math.round(clock.monotonicMs() - startedMs);
		await deliveries.add([{ webhook: name, eventId, event: testEvent, body, createdMs, keptUntilMs: createdMs }], {
			state: result.error === null ? 'delivered' : 'failed',
			attempts: 1,
			lastAttemptMs: createdMs,
			nextAttemptMs: null,
			...result,
		});
		return { eventId, durationMs, ...result };
	}

	list(query: DeliveryQuery): Promise<DeliveryPage> {
		return this.#ports.deliveries.list(query);
	}

	/** Stores queued notices and waits shortly for attempts in flight. Those that are cut are due again at once. */
	async stop(): Promise<void> {
		if (this.#isStopped) return;
		this.#isStopped = true;
		this.#timer?.cancel();
		this.#storeTimer?.cancel();
		const stored = (this.#storing ?? Promise.resolve()).then(() => this.#storeQueue());
		await this.#settledWithin(maxStopMs, [stored, this.#polling ?? Promise.resolve(), ...this.#attemptsInFlight()]);
		for (const abort of this.#aborts) abort();
		await this.#settledWithin(maxRecordMs, this.#attemptsInFlight());
	}

	async #settledWithin(limitMs: number, work: readonly Promise<void>[]): Promise<void> {
		const { promise: patience, resolve } = Promise.withResolvers<void>();
		const timer = this.#ports.clock.after(limitMs, resolve);
		await Promise.race([Promise.allSettled(work), patience]);
		timer.cancel();
	}

	#attemptsInFlight(): Promise<void>[] {
		return [...this.#inFlight.values()].flatMap((attempts) => [...attempts]);
	}

	#store(): void {
		if (this.#storing !== undefined || this.#storeTimer !== undefined) return;
		this.#storing = this.#storeQueue().finally(() => {
			this.#storing = undefined;
			// A notice can arrive after the last check of the queue.
			if (this.#queue.length > 0 && !this.#isStopped) this.#store();
		});
	}

	/** Never rejects: what the store does not take is tried again. */
	async #storeQueue(): Promise<void> {
		const { log, clock } = this.#ports;
		try {
			while (this.#queue.length > 0) {
				const batch = this.#queue.slice(0, maxStoredAtOnce);
				const [first] = batch;
				if (first?.change === undefined) {
					const untilChange = batch.findIndex(({ change }) => change !== undefined);
					const plain = untilChange === -1 ? batch : batch.slice(0, untilChange);
					await this.#ports.deliveries.add(plain.flatMap((notice) => this.#deliveriesOf(notice)));
					this.#queue.splice(0, plain.length);
				} else {
					await this.#ports.deliveries.change(first.change.subject, first.change.state, this.#deliveriesOf(first));
					this.#queue.shift();
				}
			}
			this.#storeFailures = 0;
			this.#pollIn(0);
		} catch (cause) {
			if (this.#storeFailures++ === 0) log.warn('webhook events cannot be stored yet', { cause });
			if (this.#isStopped) {
				this.#dropped.add(this.#queue.length);
				return;
			}
			this.#storeTimer = clock.after(Math.min(30_000, 1000 * 2 ** (this.#storeFailures - 1)), () => {
				this.#storeTimer = undefined;
				this.#store();
			});
		}
	}

	#deliveriesOf(notice: Notice): NewDelivery[] {
		const { event, subject, data, repeatsUntilMs: keptUntilMs } = notice;
		const createdMs = this.#ports.clock.nowMs();
		const eventId = eventIdOf(event, subject);
		const body = bodyOf(eventId, event, createdMs, data);
		return this.#webhooks
			.filter((webhook) => isWanted(notice, webhook))
			.map(({ name: webhook }) => ({ webhook, eventId, event, body, createdMs, keptUntilMs }));
	}

	/** Polls at the earliest time that was requested. */
	#pollIn(delayMs: number): void {
		if (this.#isStopped || !this.#isStarted) return;
		const { clock } = this.#ports;
		const dueMs = clock.monotonicMs() + delayMs;
		if (this.#timer !== undefined && this.#dueMs <= dueMs) return;
		this.#timer?.cancel();
		this.#dueMs = dueMs;
		this.#timer = clock.after(delayMs, () => {
			this.#timer = undefined;
			if (this.#polling !== undefined) return void this.#polling.then(() => this.#pollIn(0));
			this.#polling = this.#poll().finally(() => (this.#polling = undefined));
		});
	}

	/** Never rejects: what fails is tried at the next poll. */
	async #poll(): Promise<void> {
		const { clock, deliveries, log } = this.#ports;
		try {
			if (clock.monotonicMs() - this.#sweptMs >= sweepMs) {
				this.#sweptMs = clock.monotonicMs();
				await deliveries.sweep(maxLogged, clock.nowMs());
			}
			for (const webhook of this.#webhooks) {
				const free = maxInFlightPerWebhook - (this.#inFlight.get(webhook.name)?.size ?? 0);
				if (free <= 0 || this.#isStopped) continue;
				const nowMs = clock.nowMs();
				for (const delivery of await deliveries.take(webhook.name, nowMs, nowMs + takenMs, free)) this.#begin(webhook, delivery);
			}
		} catch (cause) {
			log.debug('webhook deliveries cannot be read', { cause });
		}
		if (this.#webhooks.length > 0) this.#pollIn(pollMs);
	}

	#begin(webhook: WebhookSettings, delivery: Delivery): void {
		const { name } = webhook;
		const inFlight = this.#inFlight.get(name) ?? new Set();
		this.#inFlight.set(name, inFlight);
		const attempt = this.#deliver(webhook, delivery).finally(() => inFlight.delete(attempt));
		inFlight.add(attempt);
	}

	/** Never rejects. */
	async #deliver(webhook: WebhookSettings, delivery: Delivery): Promise<void> {
		const { clock, deliveries, log } = this.#ports;
		const startedMs = clock.nowMs();
		let isCut = false;
		const aborts: (() => void)[] = [];
		const cut = (): void => {
			isCut = true;
			for (const abort of aborts) abort();
		};
		this.#aborts.add(cut);
		const result = await sendWebhook(webhook, delivery.body, this.#ports, (abort) => void aborts.push(abort));
		this.#aborts.delete(cut);
		const wasCut = isCut && result.status === null;
		const outcome = wasCut ? { ...delivery, nextAttemptMs: startedMs } : this.#outcomeOf(delivery, result, startedMs);
		if (!wasCut) this.#attempts.add(1, { webhook: webhook.name, result: result.error === null ? 'delivered' : 'failed' });
		if (!wasCut) this.#logFailure(delivery, outcome);
		// Without a record, the delivery is sent again when its time is over.
		await deliveries.note(delivery, outcome).catch((cause: unknown) => log.warn('a webhook delivery was not recorded', { cause }));
		this.#pollIn(outcome.state === 'pending' ? Math.max(0, (outcome.nextAttemptMs ?? 0) - clock.nowMs()) : 0);
	}

	#outcomeOf(delivery: Delivery, { status, error }: SendResult, startedMs: number): AttemptOutcome {
		const { clock, chance } = this.#ports;
		const attempts = delivery.attempts + 1;
		const nextMs = error === null ? undefined : nextAttemptMs(delivery.createdMs, attempts, clock.nowMs(), chance);
		const state = error === null ? 'delivered' : nextMs === undefined ? 'failed' : 'pending';
		return { state, attempts, lastAttemptMs: startedMs, nextAttemptMs: nextMs ?? null, status, error };
	}

	/** Logs the first failure and the last one. */
	#logFailure({ webhook, event, eventId }: Delivery, { state, attempts, status, error }: AttemptOutcome): void {
		if (error === null || (state === 'pending' && attempts !== 1)) return;
		const { log } = this.#ports;
		const fields = { webhook, notice: event, eventId, attempts, status, reason: error };
		if (state === 'failed') log.error('webhook delivery failed for good', fields);
		else log.warn('webhook delivery failed: it is tried again', fields);
	}
}

function isWanted({ event, webhooks }: Notice, { name, events }: WebhookSettings): boolean {
	return events.includes(event) && (webhooks === undefined || webhooks.includes(name));
}

/** Returns the same id for the same event in every process. */
export function eventIdOf(event: NoticeEvent, subject: string): string {
	return `evt_${createHash('sha256').update(`${event}\n${subject}`).digest('hex').slice(0, 32)}`;
}

function bodyOf(id: string, event: string, timeMs: number, data: Readonly<Record<string, unknown>>): string {
	return JSON.stringify({ id, event, time: new Date(timeMs).toISOString(), data });
}
