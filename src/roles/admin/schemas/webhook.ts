import { z } from 'zod';
import { noticeEvents } from '../../../core/notice.ts';
import { type Delivery, deliveryStates } from '../../../stores/contracts/webhook-deliveries.ts';
import type { AdminWebhook, WebhookTest } from '../admin-settings.ts';
import { pageOf } from '../page.ts';
import { named, time, timeOf } from './values.ts';

const webhook = named(
	'Webhook',
	z.strictObject({
		name: z.string(),
		url: z.string(),
		events: z.array(z.enum(noticeEvents)),
		allow_private_network: z.boolean(),
	}),
);

export const webhookList = named('WebhookList', pageOf(webhook));

const status = z.int().nullable().describe('HTTP status of the last response; null: none.');
const error = z.string().nullable().describe('`timeout`, `unreachable`, `address_not_allowed`, `redirect` or `status`; null: no failure.');

const delivery = named(
	'WebhookDelivery',
	z.strictObject({
		id: z.string().describe('Id of the event, the same for every webhook and every attempt.'),
		webhook: z.string(),
		event: z.string(),
		time: time.describe('Time of the event.'),
		state: z.enum(deliveryStates),
		attempts: z.int().min(0),
		last_attempt_at: time.nullable(),
		next_attempt_at: time.nullable().describe('Null once ended.'),
		status,
		error,
		data: z.record(z.string(), z.unknown()).describe('As sent to the receiver.'),
	}),
);

export const deliveryList = named('WebhookDeliveryList', pageOf(delivery));

export const webhookTest = named(
	'WebhookTest',
	z.strictObject({ id: z.string(), delivered: z.boolean(), status, error, duration_ms: z.int().min(0) }),
);

export function webhookBody({ name, url, events, canReachPrivateNetwork }: AdminWebhook): z.output<typeof webhook> {
	return { name, url, events: [...events], allow_private_network: canReachPrivateNetwork };
}

export function deliveryBody(one: Delivery): z.output<typeof delivery> {
	return {
		id: one.eventId,
		webhook: one.webhook,
		event: one.event,
		time: timeOf(one.createdMs),
		state: one.state,
		attempts: one.attempts,
		last_attempt_at: one.lastAttemptMs === null ? null : timeOf(one.lastAttemptMs),
		next_attempt_at: one.nextAttemptMs === null ? null : timeOf(one.nextAttemptMs),
		status: one.status,
		error: one.error,
		data: (JSON.parse(one.body) as { readonly data: Record<string, unknown> }).data,
	};
}

export function testBody({ eventId, status: received, error: failure, durationMs }: WebhookTest): z.output<typeof webhookTest> {
	return { id: eventId, delivered: failure === null, status: received, error: failure, duration_ms: durationMs };
}
