import { createRecordChanges, type RecordChanges, type RecordTable } from '../contracts/record-changes.ts';
import type { ChangeDeps, Stored, VersionedStore } from '../contracts/records.ts';
import { appendAudit } from './postgres-audit.ts';
import type { ChangeTransaction, RecordsDatabase } from './records-database.ts';
import type { RecordsDb } from './records-schema.ts';

/** Asynchronous form of `RecordTable`. */
export interface PostgresTable<Key, Value, Conflict extends string>
	extends Pick<RecordTable<Key, Value, Conflict>, 'kind' | 'keyOf' | 'nameOf'> {
	find(db: RecordsDb, key: Key): Promise<Stored<Value> | undefined>;
	list(db: RecordsDb): Promise<Stored<Value>[]>;
	conflictOf(db: RecordsDb, value: Value): Promise<Conflict | undefined>;
	put(db: RecordsDb, value: Stored<Value>): Promise<unknown>;
	remove(db: RecordsDb, key: Key): Promise<unknown>;
	removing?(transaction: ChangeTransaction, key: Key, terms: Pick<ChangeDeps, 'author'>): Promise<unknown>;
}

/** Changes of a versioned store, for use in a running transaction. */
export interface PostgresChanges<Key, Value, Conflict extends string> {
	create(
		transaction: ChangeTransaction,
		...args: Parameters<RecordChanges<Key, Value, Conflict>['create']>
	): Promise<'created' | 'id_taken' | Conflict>;
	replace(
		transaction: ChangeTransaction,
		...args: Parameters<RecordChanges<Key, Value, Conflict>['replace']>
	): Promise<'replaced' | 'unknown' | 'stale' | Conflict>;
	delete(
		transaction: ChangeTransaction,
		...args: Parameters<RecordChanges<Key, Value, Conflict>['delete']>
	): Promise<'deleted' | 'unknown' | 'stale'>;
}

/** Reads what a change depends on, then decides as in every backend, then writes the result. */
export function createPostgresChanges<Key, Value extends object, Conflict extends string>(
	table: PostgresTable<Key, Value, Conflict>,
): PostgresChanges<Key, Value, Conflict> {
	const change = async <Outcome>(
		transaction: ChangeTransaction,
		key: Key,
		value: Value | undefined,
		decide: (changes: RecordChanges<Key, Value, Conflict>) => Outcome,
	): Promise<Outcome> => {
		const { db } = transaction;
		const before = await table.find(db, key);
		const conflict = value === undefined ? undefined : await table.conflictOf(db, value);
		const writes: (() => Promise<unknown> | undefined)[] = [];
		const decided: RecordTable<Key, Value, Conflict> = {
			kind: table.kind,
			keyOf: table.keyOf,
			nameOf: table.nameOf,
			get: () => before,
			list: () => [],
			conflictOf: () => conflict,
			put: (stored) => void writes.push(() => table.put(db, stored)),
			remove: (removed) => {
				// A deleted record has no version, but the deletion must be announced.
				transaction.nextVersion();
				writes.push(() => table.remove(db, removed));
			},
			removing: (removed, terms) => void writes.push(() => table.removing?.(transaction, removed, terms)),
		};
		const outcome = decide(
			createRecordChanges(decided, {
				nextVersion: transaction.nextVersion,
				append: (entry) => void writes.push(() => appendAudit(db, entry)),
			}),
		);
		for (const write of writes) await write();
		return outcome;
	};
	return {
		create: (transaction, value, terms) => change(transaction, table.keyOf(value), value, (changes) => changes.create(value, terms)),
		replace: (transaction, value, terms) => change(transaction, table.keyOf(value), value, (changes) => changes.replace(value, terms)),
		delete: (transaction, key, terms) => change(transaction, key, undefined, (changes) => changes.delete(key, terms)),
	};
}

export function storeOf<Key, Value, Conflict extends string>(
	table: PostgresTable<Key, Value, Conflict>,
	changes: PostgresChanges<Key, Value, Conflict>,
	{ read, write }: RecordsDatabase,
): VersionedStore<Key, Value, Conflict> {
	return {
		get: (key) => read((db) => table.find(db, key)),
		list: () => read((db) => table.list(db)),
		create: (value, terms) => write((transaction) => changes.create(transaction, value, terms)),
		replace: (value, terms) => write((transaction) => changes.replace(transaction, value, terms)),
		delete: (key, terms) => write((transaction) => changes.delete(transaction, key, terms)),
	};
}
