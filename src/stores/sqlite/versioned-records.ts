import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { ChangeBook, RecordChanges, RecordTable } from '../contracts/record-changes.ts';
import type { Stored, VersionedStore } from '../contracts/records.ts';
import { integerOf, type Row, read, type Write } from './database.ts';
import type { AuditTable } from './sqlite-audit.ts';

export function createChangeBook(database: DatabaseSync, audit: AuditTable): ChangeBook {
	const raise = database.prepare('UPDATE record_versions SET last = last + 1 RETURNING last');
	return { nextVersion: () => integerOf(raise.get() ?? {}, 'last'), append: audit.append };
}

export interface TableColumns<Key, Value> {
	readonly table: string;
	/** Names of columns, the key's first; `version` is not among them. */
	readonly key: readonly string[];
	readonly rest: readonly string[];
	/** In the order of `key`. */
	keyValues(key: Key): SQLInputValue[];
	/** In the order of `key`, then `rest`. */
	values(value: Value): SQLInputValue[];
	/** The row was read with bigints. */
	valueOf(row: Row): Value;
}

type Statements<Key, Value> = Pick<RecordTable<Key, Value, never>, 'get' | 'list' | 'put' | 'remove'>;

export function prepareTable<Key, Value extends object>(database: DatabaseSync, columns: TableColumns<Key, Value>): Statements<Key, Value> {
	const { table, key, rest, keyValues, values, valueOf } = columns;
	const all = [...key, ...rest, 'version'];
	const isKey = key.map((name) => `${name} = ?`).join(' AND ');
	const selectOne = database.prepare(`SELECT * FROM ${table} WHERE ${isKey}`);
	const selectAll = database.prepare(`SELECT * FROM ${table} ORDER BY ${key.join(', ')}`);
	const upsert = database.prepare(`
		INSERT INTO ${table} (${all.join(', ')}) VALUES (${all.map(() => '?').join(', ')})
		ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${[...rest, 'version'].map((name) => `${name} = excluded.${name}`).join(', ')}`);
	const remove = database.prepare(`DELETE FROM ${table} WHERE ${isKey}`);
	selectOne.setReadBigInts(true);
	selectAll.setReadBigInts(true);
	const stored = (row: Row): Stored<Value> => ({ ...valueOf(row), version: integerOf(row, 'version') });
	return {
		get(wanted) {
			const row = selectOne.get(...keyValues(wanted));
			return row && stored(row);
		},
		list: () => selectAll.all().map(stored),
		put: (value) => void upsert.run(...values(value), value.version),
		remove: (unwanted) => void remove.run(...keyValues(unwanted)),
	};
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
