import type { DatabaseSync } from 'node:sqlite';
import { integerOf } from '../database.ts';

/** Callers choose model names, so that these must not grow without bound. */
const mostRemembered = 10_000;

export interface LedgerNames {
	/** For use inside a transaction. */
	idOf(name: string): number;
	/** After a transaction that failed: what it added is gone. */
	forget(): void;
}

export function createLedgerNames(database: DatabaseSync): LedgerNames {
	const select = database.prepare('SELECT id FROM names WHERE name = ?');
	const insert = database.prepare('INSERT INTO names (name) VALUES (?)');
	const remembered = new Map<string, number>();
	const idOf = (name: string): number => {
		const known = remembered.get(name);
		if (known !== undefined) return known;
		const row = select.get(name);
		const id = row === undefined ? Number(insert.run(name).lastInsertRowid) : integerOf(row, 'id');
		if (remembered.size >= mostRemembered) remembered.clear();
		remembered.set(name, id);
		return id;
	};
	return {
		idOf,
		forget: () => remembered.clear(),
	};
}
