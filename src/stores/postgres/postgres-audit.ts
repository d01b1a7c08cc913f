import { readAuditPage } from '../audit-page.ts';
import type { AuditEntry, AuditLog } from '../contracts/records.ts';
import type { RecordsDatabase } from './records-database.ts';
import type { RecordsDb } from './records-schema.ts';

export async function appendAudit(db: RecordsDb, { atMs, requestId, ...entry }: AuditEntry): Promise<void> {
	await db
		.insertInto('audit')
		.values({ ...entry, at_ms: atMs, request_id: requestId })
		.execute();
}

export function createAuditLog({ read, write }: RecordsDatabase): AuditLog {
	return {
		// Serialized with the record changes, so that a page never misses an entry that has a lower number and commits later.
		append: (entry) => write(({ db }) => appendAudit(db, entry)),
		list: (page) =>
			readAuditPage(page, (before, count) =>
				read((db) => {
					let query = db.selectFrom('audit').selectAll().where('sequence', '<', BigInt(before)).orderBy('sequence', 'desc').limit(count);
					if (page.kind !== undefined) query = query.where('kind', '=', page.kind);
					if (page.key !== undefined) query = query.where('key', '=', page.key);
					return query.execute();
				}),
			),
	};
}
