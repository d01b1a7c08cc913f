import type { DatabaseSync } from 'node:sqlite';
import { readAuditPage } from '../audit-page.ts';
import type { AuditEntry, AuditLog } from '../contracts/records.ts';
import { read, type Write } from './database.ts';

export interface AuditTable {
	/** For use inside a transaction. */
	append(entry: AuditEntry): void;
	list: AuditLog['list'];
}

export function createAuditTable(database: DatabaseSync): AuditTable {
	const insert = database.prepare(`
		INSERT INTO audit (at_ms, actor, request_id, action, kind, key, before, after) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
	const select = database.prepare(`
		SELECT * FROM audit WHERE sequence < :before AND (:kind IS NULL OR kind = :kind) AND (:key IS NULL OR key = :key)
		ORDER BY sequence DESC LIMIT :count`);
	return {
		append: ({ atMs, actor, requestId, action, kind, key, before, after }) =>
			void insert.run(atMs, actor, requestId, action, kind, key, before, after),
		list: (query) => {
			const { kind = null, key = null } = query;
			return readAuditPage(query, (before, count) => read(() => select.all({ before, kind, key, count })));
		},
	};
}

export function auditLogOf(audit: AuditTable, write: Write): AuditLog {
	return { append: (entry) => write(() => audit.append(entry)), list: audit.list };
}
