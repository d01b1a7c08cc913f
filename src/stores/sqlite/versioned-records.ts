import type { DatabaseSync } from 'node:sqlite';
import type { ChangeBook, RecordChanges } from '../contracts/record-changes.ts';
import type { VersionedStore } from '../contracts/records.ts';
import { integerOf } from '../row.ts';
import { read, type Write } from './database.ts';
import type { AuditTable } from './sqlite-audit.ts';

export function createChangeBook(database: DatabaseSync, audit: AuditTable): ChangeBook {
	const raise = database.prepare('UPDATE record_versions SET last = last + 1 RETURNING last');
	return { nextVersion: () => integerOf(raise.get() ?? {}, 'last'), append: audit.append };
}

export function storeOf<Key, Value, Conflict extends string>(
	records: RecordChanges<Key, Value, Conflict>,
	write: Write,
): VersionedStore<Key, Value, Conflict> {
	return {
		get: (key) => read(() => records.get(key)),
		list: () => read(() => records.list()),
		create: (value, terms) => write(() => records.create(value, terms)),
		replace: (value, terms) => write(() => records.replace(value, terms)),
		delete: (key, terms) => write(() => records.delete(key, terms)),
	};
}
