import type { DatabaseSync } from 'node:sqlite';
import { UpstreamError } from '../../core/upstream-error.ts';
import { integerOf } from '../row.ts';

/**
 * Runs statements that only read.
 * @throws UpstreamError `records_unavailable` when the database fails.
 */
export async function read<Result>(statements: () => Result): Promise<Result> {
	try {
		return statements();
	} catch (cause) {
		throw new UpstreamError('records_unavailable', { cause });
	}
}

/** Runs statements in one exclusive write transaction, which is rolled back when they throw. */
export type Transaction = <Result>(statements: () => Result) => Result;

export function createTransaction(database: DatabaseSync): Transaction {
	const begin = database.prepare('BEGIN IMMEDIATE');
	const commit = database.prepare('COMMIT');
	const rollback = database.prepare('ROLLBACK');
	return (statements) => {
		begin.run();
		try {
			const done = statements();
			commit.run();
			return done;
		} catch (cause) {
			if (database.isTransaction) rollback.run();
			throw cause;
		}
	};
}

/** A transaction that fails with `UpstreamError` `records_unavailable`. */
export type Write = <Result>(statements: () => Result) => Promise<Result>;

/** @param written called after each commit with changes. */
export function createWrite(database: DatabaseSync, written: () => void): Write {
	const transaction = createTransaction(database);
	const changes = database.prepare('SELECT total_changes() AS count');
	const countChanges = (): number => integerOf(changes.get() ?? {}, 'count');
	return async (statements) => {
		const before = countChanges();
		const result = await read(() => transaction(statements));
		if (countChanges() !== before) written();
		return result;
	};
}
