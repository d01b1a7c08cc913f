/** Pages of the audit log, newest first. A cursor is the sequence number of its page's last entry. */
import { type AuditEntry, type AuditPage, type AuditQuery, auditActions, auditKinds } from './contracts/records.ts';
import { oneOf } from './decode.ts';
import { integerOf, type Row, textOf, textOrNullOf } from './row.ts';

const maxEntries = 1000;
const cursorPattern = /^[1-9]\d{0,15}$/;

/** @param before sequence number. @returns at most `count` rows before it. */
export type AuditReading = (before: number, count: number) => Promise<readonly Row[]>;

/** @throws RangeError for a cursor that no page returned. */
export async function readAuditPage({ limit, cursor }: AuditQuery, readRows: AuditReading): Promise<AuditPage> {
	if (cursor !== undefined && !cursorPattern.test(cursor)) {
		throw new RangeError(`${JSON.stringify(cursor)} is not a valid cursor`);
	}
	const size = Math.max(1, Math.min(limit, maxEntries));
	const found = await readRows(cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(cursor), size + 1);
	const rows = found.slice(0, size);
	const last = rows.at(-1);
	return {
		entries: rows.map(entryOf),
		nextCursor: found.length > size && last !== undefined ? String(integerOf(last, 'sequence')) : null,
	};
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
