import { z } from 'zod';
import { Rejection } from '../../../core/rejection.ts';
import { deliveryStates } from '../../../stores/contracts/webhook-deliveries.ts';
import type { AdminDeps } from '../admin-deps.ts';
import { defineOperation, type Operation } from '../operation.ts';
import { limitOf, pageQuery, sortUsageRows, takePage, withCursor } from '../page.ts';
import { deliveryBody, deliveryList, testBody, webhookBody, webhookList, webhookTest } from '../schemas/webhook.ts';

export function webhookOperations({ webhooks }: AdminDeps): Operation[] {
	return [
		defineOperation({
			method: 'GET',
			path: '/webhooks',
			access: { needs: 'read', team: 'denied' },
			tag: 'webhooks',
			summary: 'List webhooks, without secrets',
			query: z.strictObject(pageQuery),
			success: { status: 200, schema: webhookList },
			run: ({ query }) => ({
				body: takePage(
					sortUsageRows(webhooks.webhooks, ({ name }) => name),
					query,
					webhookBody,
				),
			}),
		}),
		defineOperation({
			method: 'GET',
			path: '/webhooks/deliveries',
			access: { needs: 'read', team: 'denied' },
			tag: 'webhooks',
			summary: 'List deliveries, newest first',
			description: 'The log has at least the last 1,000 deliveries of each webhook.',
			query: z.strictObject({
				...pageQuery,
				webhook: z.string().min(1).max(256).optional(),
				event: z.string().min(1).max(64).optional(),
				state: z.enum(deliveryStates).optional(),
			}),
			success: { status: 200, schema: deliveryList },
			run: async ({ query }) => {
				const { deliveries, nextCursor } = await withCursor(() => webhooks.list({ ...query, limit: limitOf(query) }));
				return { body: { data: deliveries.map(deliveryBody), next_cursor: nextCursor } };
			},
		}),
		defineOperation({
			method: 'POST',
			path: '/webhooks/{name}/test',
			access: { needs: 'write', team: 'denied' },
			tag: 'webhooks',
			summary: 'Send a test event',
			description: 'Sends the event `webhook.test` once and returns the result. Failed tests are not repeated.',
			params: z.strictObject({ name: z.string() }),
			success: { status: 200, schema: webhookTest },
			rejections: ['record_unknown'],
			run: async ({ params: { name } }) => {
				const result = await webhooks.test(name);
				if (result === undefined) {
					throw new Rejection('record_unknown', { message: `Webhook \`${name.slice(0, 256)}\` is not in the configuration` });
				}
				return { body: testBody(result) };
			},
		}),
	];
}
