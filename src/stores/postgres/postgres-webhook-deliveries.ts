import { sql } from 'kysely';
import { type AttemptOutcome, maxAbandonedMs, type NewDelivery, type WebhookDeliveries } from '../contracts/webhook-deliveries.ts';
import { deliveryOf, readDeliveryPage } from '../delivery-page.ts';
import type { RecordsDatabase } from './records-database.ts';
import type { RecordsDb } from './records-schema.ts';

/** Bypasses the serialization of record changes, because a delivery is not announced. */
export function createPostgresWebhookDeliveries({ read }: RecordsDatabase): WebhookDeliveries {
	return {
		add: (deliveries, outcome) => read((db) => insertAll(db, deliveries, outcome)),
		change: (subject, state, deliveries) =>
			read((db) =>
				db.transaction().execute(async (transaction) => {
					const changed = await transaction
						.insertInto('webhook_subjects')
						.values({ subject, state })
						.onConflict((conflict) => conflict.column('subject').doUpdateSet({ state }).where('webhook_subjects.state', '<>', state))
						.returning('subject')
						.execute();
					if (changed.length === 0) return false;
					await insertAll(transaction, deliveries);
					return true;
				}),
			),
		subjectsIn: (state) =>
			read(async (db) => {
				const rows = await db.selectFrom('webhook_subjects').select('subject').where('state', '=', state).orderBy('subject').execute();
				return rows.map(({ subject }) => subject);
			}),
		take: (webhook, nowMs, untilMs, limit) =>
			read(async (db) => {
				const due = db
					.selectFrom('webhook_deliveries')
					.select('sequence')
					.where('webhook', '=', webhook)
					.where('next_attempt_ms', '<=', sql<bigint>`${nowMs}`)
					.orderBy('next_attempt_ms')
					.orderBy('sequence')
					.limit(limit)
					.forUpdate()
					.skipLocked();
				const taken = await db
					.updateTable('webhook_deliveries')
					.set({ next_attempt_ms: untilMs })
					.where('sequence', 'in', due)
					.returningAll()
					.execute();
				return taken.map(deliveryOf);
			}),
		note: ({ webhook, eventId }, outcome) =>
			read(async (db) => {
				await db
					.updateTable('webhook_deliveries')
					.set(columnsOf(outcome))
					.where('webhook', '=', webhook)
					.where('event_id', '=', eventId)
					.where('state', '=', 'pending')
					.execute();
			}),
		list: (query) =>
			readDeliveryPage(query, (before, count) =>
				read((db) => {
					let rows = db
						.selectFrom('webhook_deliveries')
						.selectAll()
						.where('sequence', '<', BigInt(before))
						.orderBy('sequence', 'desc')
						.limit(count);
					if (query.webhook !== undefined) rows = rows.where('webhook', '=', query.webhook);
					if (query.event !== undefined) rows = rows.where('event', '=', query.event);
					if (query.state !== undefined) rows = rows.where('state', '=', query.state);
					return rows.execute();
				}),
			),
		sweep: (maxPerWebhook, nowMs) =>
			read(async (db) => {
				const places = db
					.selectFrom('webhook_deliveries')
					.select([
						'sequence',
						'state',
						'kept_until_ms',
						'next_attempt_ms',
						sql<bigint>`row_number() OVER (PARTITION BY webhook ORDER BY sequence DESC)`.as('place'),
					])
					.as('places');
				const surplus = db
					.selectFrom(places)
					.select('sequence')
					.where((where) =>
						where.or([
							where.and([
								where('place', '>', sql<bigint>`${maxPerWebhook}`),
								where('state', '<>', 'pending'),
								where('kept_until_ms', '<=', sql<bigint>`${nowMs}`),
							]),
							where('next_attempt_ms', '<', sql<bigint>`${nowMs - maxAbandonedMs}`),
						]),
					);
				await db.deleteFrom('webhook_deliveries').where('sequence', 'in', surplus).execute();
			}),
	};
}

async function insertAll(db: RecordsDb, deliveries: readonly NewDelivery[], outcome?: AttemptOutcome): Promise<void> {
	if (deliveries.length === 0) return;
	// Sorted, because two processes that insert the same events in different orders could deadlock.
	const rows = deliveries
		.toSorted((one, other) => (`${one.webhook} ${one.eventId}` < `${other.webhook} ${other.eventId}` ? -1 : 1))
		.map(({ webhook, eventId, event, body, createdMs, keptUntilMs }) => ({
			webhook,
			event_id: eventId,
			event,
			body,
			created_ms: createdMs,
			kept_until_ms: keptUntilMs,
			...columnsOf(outcome ?? { state: 'pending', attempts: 0, lastAttemptMs: null, nextAttemptMs: createdMs, status: null, error: null }),
		}));
	await db
		.insertInto('webhook_deliveries')
		.values(rows)
		.onConflict((conflict) => conflict.columns(['webhook', 'event_id']).doNothing())
		.execute();
}

function columnsOf({ state, attempts, lastAttemptMs, nextAttemptMs, status, error }: AttemptOutcome) {
	return { state, attempts, last_attempt_ms: lastAttemptMs, next_attempt_ms: nextAttemptMs, status, error };
}
