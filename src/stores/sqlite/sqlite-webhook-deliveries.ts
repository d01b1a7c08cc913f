import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { type AttemptOutcome, maxAbandonedMs, type NewDelivery, type WebhookDeliveries } from '../contracts/webhook-deliveries.ts';
import { deliveryOf, readDeliveryPage } from '../delivery-page.ts';
import { readMigrations } from '../read-migrations.ts';
import { textOf } from '../row.ts';
import { createTransaction, read } from './database.ts';
import { migrate } from './migrate.ts';
import { openDatabase } from './open-database.ts';

export interface SqliteWebhookDeliveries extends WebhookDeliveries {
	close(): void;
}

export const webhookDeliveriesFileName = 'webhooks.db';

const migrations = new URL('migrations/webhook-deliveries/', import.meta.url);

/** Uses a separate file, opened on first use, so that a delivery does not trigger the polling of record changes. */
export function createSqliteWebhookDeliveries(dataDir: string): SqliteWebhookDeliveries {
	return webhookDeliveriesIn((prepare) => openDatabase(join(dataDir, webhookDeliveriesFileName), prepare, 'process'));
}

/** @param open opens the database at the first use. */
export function webhookDeliveriesIn(open: (prepare: (database: DatabaseSync) => void) => DatabaseSync): SqliteWebhookDeliveries {
	let opened: Statements | undefined;
	const statements = (): Statements => (opened ??= statementsOf(open((database) => migrate(database, readMigrations(migrations)))));
	return {
		add: (deliveries, outcome) =>
			read(() => {
				const { insert, transaction } = statements();
				transaction(() => insertAll(insert, deliveries, outcome));
			}),
		change: (subject, state, deliveries) =>
			read(() => {
				const { insert, setState, transaction } = statements();
				return transaction(() => {
					if (setState.run(subject, state).changes === 0) return false;
					insertAll(insert, deliveries);
					return true;
				});
			}),
		subjectsIn: (state) =>
			read(() =>
				statements()
					.subjectsIn.all(state)
					.map((row) => textOf(row, 'subject')),
			),
		take: (webhook, nowMs, untilMs, limit) =>
			read(() => {
				const { due, take, transaction } = statements();
				// Without anything due, the file is not locked.
				if (due.get(webhook, nowMs) === undefined) return [];
				return transaction(() => take.all(untilMs, webhook, nowMs, limit).map(deliveryOf));
			}),
		note: ({ webhook, eventId }, { state, attempts, lastAttemptMs, nextAttemptMs, status, error }) =>
			read(() => void statements().note.run(state, attempts, lastAttemptMs, nextAttemptMs, status, error, webhook, eventId)),
		list: (query) =>
			readDeliveryPage(query, (before, count) =>
				read(() => {
					const { webhook = null, event = null, state = null } = query;
					return statements().list.all(before, webhook, webhook, event, event, state, state, count);
				}),
			),
		sweep: (maxPerWebhook, nowMs) => read(() => void statements().sweep.run(maxPerWebhook, nowMs, nowMs - maxAbandonedMs)),
		close() {
			if (opened?.database.isOpen === true) opened.database.close();
		},
	};
}

function insertAll(insert: Statements['insert'], deliveries: readonly NewDelivery[], outcome?: AttemptOutcome): void {
	for (const { webhook, eventId, event, body, createdMs, keptUntilMs } of deliveries) {
		const { state = 'pending', attempts = 0, lastAttemptMs = null, nextAttemptMs = createdMs, status = null, error = null } = outcome ?? {};
		insert.run(webhook, eventId, event, body, createdMs, keptUntilMs, state, attempts, lastAttemptMs, nextAttemptMs, status, error);
	}
}

type Statements = ReturnType<typeof statementsOf>;

function statementsOf(database: DatabaseSync) {
	return {
		database,
		transaction: createTransaction(database),
		insert: database.prepare(`
			INSERT INTO webhook_deliveries (
				webhook, event_id, event, body, created_ms, kept_until_ms, state, attempts, last_attempt_ms, next_attempt_ms, status, error
			)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (webhook, event_id) DO NOTHING`),
		setState: database.prepare(`
			INSERT INTO webhook_subjects (subject, state) VALUES (?, ?)
			ON CONFLICT (subject) DO UPDATE SET state = excluded.state WHERE state <> excluded.state`),
		subjectsIn: database.prepare('SELECT subject FROM webhook_subjects WHERE state = ? ORDER BY subject'),
		due: database.prepare('SELECT 1 FROM webhook_deliveries WHERE webhook = ? AND next_attempt_ms <= ? LIMIT 1'),
		take: database.prepare(`
			UPDATE webhook_deliveries SET next_attempt_ms = ?
			WHERE sequence IN (
				SELECT sequence FROM webhook_deliveries WHERE webhook = ? AND next_attempt_ms <= ? ORDER BY next_attempt_ms, sequence LIMIT ?
			)
			RETURNING *`),
		note: database.prepare(`
			UPDATE webhook_deliveries
			SET state = ?, attempts = ?, last_attempt_ms = ?, next_attempt_ms = ?, status = ?, error = ?
			WHERE webhook = ? AND event_id = ? AND state = 'pending'`),
		list: database.prepare(`
			SELECT * FROM webhook_deliveries
			WHERE sequence < ? AND (? IS NULL OR webhook = ?) AND (? IS NULL OR event = ?) AND (? IS NULL OR state = ?)
			ORDER BY sequence DESC LIMIT ?`),
		sweep: database.prepare(`
			DELETE FROM webhook_deliveries WHERE sequence IN (
				SELECT sequence FROM (
					SELECT sequence, state, kept_until_ms, next_attempt_ms, row_number() OVER (PARTITION BY webhook ORDER BY sequence DESC) AS place
					FROM webhook_deliveries
				)
				WHERE (place > ? AND state <> 'pending' AND kept_until_ms <= ?) OR next_attempt_ms < ?
			)`),
	};
}
