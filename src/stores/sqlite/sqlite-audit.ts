import type { DatabaseSync } from 'node:sqlite';
import { type AuditEntry, type AuditLog, auditActions, auditKinds } from '../contracts/records.ts';
import { oneOf } from '../decode.ts';
import { integerOf, type Row, read, textOf, textOrNullOf, type Write } from './database.ts';

const mostEntries = 1000;
const cursorPattern = /^[1-9]\d{0,15}$/;

export interface AuditTable {
	/** Inside a transaction. */
	append(entry: AuditEntry): void;
	/** A cursor is the sequence number of its page's last entry. */
	list: AuditLog['list'];
}

export function createAuditTable(database: DatabaseSync): AuditTable {
	const insert = database.prepare(`
		INSERT INTO audit (at_ms, actor, request_id, action, kind, key, before, after) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
	const select = database.prepare(`
		SELECT * FROM audit WHERE sequence < :before AND (:kind IS NULL OR kind = :kind) AND (:key IS NULL OR key = :key)
		ORDER BY sequence DESC LIMIT :limit`);
	return {
		append: ({ atMs, actor, requestId, action, kind, key, before, after }) =>
			void insert.run(atMs, actor, requestId, action, kind, key, before, after),
		async list({ kind = null, key = null, limit, cursor }) {
			if (cursor !== undefined && !cursorPattern.test(cursor)) {
				throw new RangeError(`${JSON.stringify(cursor)} is not a cursor of the audit log`);
			}
			const most = Math.max(1, Math.min(limit, mostEntries));
			const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(cursor);
			const found = await read(() => select.all({ before, kind, key, limit: most + 1 }));
			const rows = found.slice(0, most);
			const last = rows.at(-1);
			return {
				entries: rows.map(entryOf),
				nextCursor: found.length > most && last !== undefined ? String(integerOf(last, 'sequence')) : null,
			};
		},
	};
}

export function auditLogOf(audit: AuditTable, write: Write): AuditLog {
	return { append: (entry) => write(() => audit.append(entry)), list: audit.list };
}

const actionFrom = oneOf(auditActions);
const kindFrom = oneOf(auditKinds);

function entryOf(row: Row): AuditEntry {
	return {
		atMs: integerOf(row, 'at_ms'),
		actor: textOf(row, 'actor'),
		requestId: textOrNullOf(row, 'request_id'),
		action: actionFrom(row['action']),
		kind: kindFrom(row['kind']),
		key: textOf(row, 'key'),
		before: textOrNullOf(row, 'before'),
		after: textOrNullOf(row, 'after'),
	};
}
