/** The only code that changes versioned records: terms, conflicts, a new version and an audit entry, in the backend's transaction. */
import type { AuditEntry, Author, ChangeDeps, Stored, VersionedStore } from './records.ts';

/** Records of one kind in a backend. Every method runs inside a transaction. */
export interface RecordTable<Key, Value, Conflict extends string> {
	readonly kind: AuditEntry['kind'];
	keyOf(value: Value): Key;
	/** Name in the audit log. */
	nameOf(key: Key): string;
	get(key: Key): Stored<Value> | undefined;
	/** Ordered by key. */
	list(): Stored<Value>[];
	/** Returns the conflict with another record, if there is one. */
	conflictOf(value: Value): Conflict | undefined;
	/** Adds or replaces a record. */
	put(value: Stored<Value>): void;
	remove(key: Key): void;
	/** Deletes dependent records. */
	removing?(key: Key, terms: Pick<ChangeDeps, 'author'>): void;
}

export interface ChangeRecorder {
	/** Higher than any version before. */
	nextVersion(): number;
	append(entry: AuditEntry): void;
}

type Settled<Store> = {
	readonly [Name in keyof Store]: Store[Name] extends (...args: infer Args) => Promise<infer Result> ? (...args: Args) => Result : never;
};

/** Methods of a store, for use inside a transaction. */
export type RecordChanges<Key, Value, Conflict extends string> = Settled<VersionedStore<Key, Value, Conflict>>;

export function createRecordChanges<Key, Value extends object, Conflict extends string>(
	table: RecordTable<Key, Value, Conflict>,
	book: ChangeRecorder,
): RecordChanges<Key, Value, Conflict> {
	const note = (author: Author | undefined, action: AuditEntry['action'], key: Key, before?: Value, after?: Value): void => {
		if (author !== undefined) book.append(auditEntryOf(author, action, table.kind, table.nameOf(key), before, after));
	};
	const put = (value: Value): void => table.put({ ...value, version: book.nextVersion() });
	return {
		get: (key) => table.get(key),
		list: () => table.list(),
		create(value, { author } = {}) {
			const key = table.keyOf(value);
			if (table.get(key) !== undefined) return 'id_taken';
			const conflict = table.conflictOf(value);
			if (conflict !== undefined) return conflict;
			put(value);
			note(author, 'create', key, undefined, value);
			return 'created';
		},
		replace(value, { author, ifVersion } = {}) {
			const key = table.keyOf(value);
			const before = table.get(key);
			if (before === undefined) return 'unknown';
			if (ifVersion !== undefined && before.version !== ifVersion) return 'stale';
			const conflict = table.conflictOf(value);
			if (conflict !== undefined) return conflict;
			put(value);
			note(author, 'replace', key, before, value);
			return 'replaced';
		},
		delete(key, { author, ifVersion } = {}) {
			const before = table.get(key);
			if (before === undefined) return 'unknown';
			if (ifVersion !== undefined && before.version !== ifVersion) return 'stale';
			table.removing?.(key, author === undefined ? {} : { author });
			table.remove(key);
			note(author, 'delete', key, before);
			return 'deleted';
		},
	};
}

export function auditEntryOf(
	author: Author,
	action: AuditEntry['action'],
	kind: AuditEntry['kind'],
	key: string,
	before?: object,
	after?: object,
): AuditEntry {
	const { actor, atMs, requestId = null } = author;
	return { atMs, actor, requestId, action, kind, key, before: describeRecord(before), after: describeRecord(after) };
}

function describeRecord(record: (object & { readonly version?: unknown; readonly secrets?: unknown }) | undefined): string | null {
	if (record === undefined) return null;
	const { version: _version, secrets: _secrets, ...described } = record;
	return JSON.stringify(described, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}
