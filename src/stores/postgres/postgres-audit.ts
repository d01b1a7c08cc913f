import type { Selectable } from 'kysely';
import type { AuditEntry, AuditLog } from '../contracts/records.ts';
import type { RecordsDatabase } from './records-database.ts';
import type { AuditTable, RecordsDb } from './records-schema.ts';

const mostEntries = 1000;
const cursorPattern = /^[1-9]\d{0,15}$/;

export async function appendAudit(db: RecordsDb, { atMs, requestId, ...entry }: AuditEntry): Promise<void> {
	await db
		.insertInto('audit')
		.values({ ...entry, at_ms: atMs, request_id: requestId })
		.execute();
}

export function createAuditLog({ read, write }: RecordsDatabase): AuditLog {
	return {
		// In its turn among the changes, so that a page never misses what was numbered before it and committed after.
		append: (entry) => write(({ db }) => appendAudit(db, entry)),
		async list({ kind, key, limit, cursor }) {
			// A cursor is the sequence number of its page's last entry.
			if (cursor !== undefined && !cursorPattern.test(cursor)) {
				throw new RangeError(`${JSON.stringify(cursor)} is not a cursor of the audit log`);
			}
			const most = Math.max(1, Math.min(limit, mostEntries));
			const found = await read((db) => {
				let query = db
					.selectFrom('audit')
					.selectAll()
					.orderBy('sequence', 'desc')
					.limit(most + 1);
				if (cursor !== undefined) query = query.where('sequence', '<', BigInt(cursor));
				if (kind !== undefined) query = query.where('kind', '=', kind);
				if (key !== undefined) query = query.where('key', '=', key);
				return query.execute();
			});
			const rows = found.slice(0, most);
			const last = rows.at(-1);
			return { entries: rows.map(entryOf), nextCursor: found.length > most && last !== undefined ? String(last.sequence) : null };
		},
	};
}

function entryOf(row: Selectable<AuditTable>): AuditEntry {
	const { at_ms, actor, request_id, action, kind, key, before, after } = row;
	return { atMs: Number(at_ms), actor, requestId: request_id, action, kind, key, before, after };
}
