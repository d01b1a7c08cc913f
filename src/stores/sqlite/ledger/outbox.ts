import type { DatabaseSync } from 'node:sqlite';
import type { SpooledEntry, SpoolPart, SpoolProgress } from '../../contracts/ledger-spool.ts';
import { integerOf, integerOrNullOf } from '../../row.ts';
import { ledgerEntryOf } from './compact-entries.ts';
import { prepareEntries, rowsOf } from './entry-pages.ts';
import type { CompactEntry } from './ledger-operations.ts';
import { packRequestId } from './packed-request-id.ts';

interface OutboxWriting {
	/** For use inside a transaction. */
	forget(done: SpoolProgress): void;
	/** True if it is short enough to compare rows with. */
	isShort(): boolean;
}

const maxComparedLength = 10_000;

export function createOutboxWriting(database: DatabaseSync): OutboxWriting {
	const deleteThrough = database.prepare('DELETE FROM outbox WHERE position <= ?');
	const keep = database.prepare('UPDATE calls SET is_spooled = NULL WHERE id = ?');
	const measure = database.prepare('SELECT coalesce(max(position) - min(position), 0) AS length FROM outbox');
	return {
		forget({ through, rejectedIds }) {
			for (const id of rejectedIds) keep.run(packRequestId(id));
			deleteThrough.run(through);
		},
		isShort: () => integerOf(measure.get() ?? {}, 'length') < maxComparedLength,
	};
}

/** Reads the oldest entries with the current state of their rows, in one snapshot. Entries whose row was deleted by retention have none. */
export function createOutboxReading(database: DatabaseSync): (limit: number, isOurs: boolean) => SpoolPart {
	const bounds = database.prepare(`
		SELECT min(position) AS first, max(position) AS last, (SELECT noted_ms FROM outbox ORDER BY position LIMIT 1) AS oldest_ms,
			(SELECT max(position) FROM (SELECT position FROM outbox ORDER BY position LIMIT ?)) AS through FROM outbox`);
	const entriesThrough = prepareEntries(
		database,
		'FROM calls WHERE sequence IN (SELECT call FROM outbox WHERE position <= ?) ORDER BY sequence',
	);
	const lastEver = database.prepare("SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'outbox'), 0) AS last");
	return (limit, isOurs) => {
		database.exec('BEGIN');
		try {
			const found = bounds.get(limit) ?? {};
			const last = integerOf(lastEver.get() ?? {}, 'last');
			const first = integerOrNullOf(found, 'first') ?? last + 1;
			const through = isOurs ? (integerOrNullOf(found, 'through') ?? last) : first - 1;
			const rows = through < first ? [] : rowsOf(entriesThrough.all(through)).map(spooledEntryOf);
			const oldestMs = integerOrNullOf(found, 'oldest_ms');
			return { first, last, oldestMs, through, count: rows.length, rows: JSON.stringify(rows), isSentByAnother: !isOurs };
		} finally {
			if (database.isTransaction) database.exec('COMMIT');
		}
	};
}

function spooledEntryOf(row: CompactEntry): SpooledEntry {
	const entry = ledgerEntryOf(row);
	const { id, startedMs, team, clientId, provider, model, dialect, isStreaming, priceVersion, reservedNanoUsd, closed } = entry;
	const opened = [id, startedMs, team, clientId, provider, model, dialect, isStreaming, priceVersion] as const;
	const [, , , , , , , , , , budgets] = row;
	const reserved = [budgets, reservedNanoUsd.toString(), entry.endpoint, entry.attributes] as const;
	if (closed === undefined) return [...opened, ...reserved, null, null, null, null, null, null, null, null, null, null, null];
	const { outcome, endedMs, status, isEstimated, usage, costNanoUsd } = closed;
	return [
		...opened,
		...reserved,
		outcome,
		endedMs,
		status,
		isEstimated,
		usage.inputTokens,
		usage.cacheReadTokens,
		usage.cacheWriteTokens,
		usage.cacheWriteHourTokens,
		usage.outputTokens,
		usage.reasoningTokens,
		costNanoUsd.toString(),
	];
}
