/** Numbers of an entry's names, and of the attributes under which the sums count it. */
import type { DatabaseSync } from 'node:sqlite';
import { dayNumberOf } from '../../../core/day-number.ts';
import { maxAttributesPerDay, otherAttributes } from '../../contracts/ledger.ts';
import { integerOf } from '../../row.ts';
import { createLedgerNames, type LedgerNames } from './ledger-names.ts';

export interface EntryNames {
	readonly names: LedgerNames;
	readonly attributeNames: AttributeNames;
	/** Must follow a failed transaction. */
	forget(): void;
}

export function createEntryNames(database: DatabaseSync): EntryNames {
	const names = createLedgerNames(database);
	const attributeNames = createAttributeNames(database, names);
	return {
		names,
		attributeNames,
		forget() {
			names.forget();
			attributeNames.forget();
		},
	};
}

interface AttributeNames {
	/** For use inside a transaction. @returns the name under which the sums of that day count the attributes. */
	of(team: number, startedMs: number, text: string): SummedAttributes;
	forget(): void;
}

interface SummedAttributes {
	readonly id: number;
	/** True if the sums count them under others. */
	readonly isOther: boolean;
}

const maxCached = 10_000;

/** Bounds the distinct attributes in the sums of a team and UTC day. Several processes that share the file share the bound. */
function createAttributeNames(database: DatabaseSync, names: LedgerNames): AttributeNames {
	const select = database.prepare('SELECT 1 FROM attribute_sets WHERE day = ? AND team = ? AND attributes = ?');
	const insert = database.prepare('INSERT INTO attribute_sets (day, team, attributes) VALUES (?, ?, ?)');
	const count = database.prepare('SELECT count(*) AS count FROM attribute_sets WHERE day = ? AND team = ?');
	const cached = new Map<string, SummedAttributes>();
	// Teams and days that have reached the maximum, for good.
	const full = new Set<string>();
	const isFull = (day: number, team: number): boolean => {
		const key = `${day} ${team}`;
		if (full.has(key)) return true;
		if (integerOf(count.get(day, team) ?? {}, 'count') < maxAttributesPerDay) return false;
		if (full.size >= maxCached) full.clear();
		full.add(key);
		return true;
	};
	const decide = (day: number, team: number, text: string): SummedAttributes => {
		const known = names.find(text);
		if (known !== undefined && select.get(day, team, known) !== undefined) return { id: known, isOther: false };
		if (isFull(day, team)) return { id: names.idOf(otherAttributes), isOther: true };
		const id = known ?? names.idOf(text);
		insert.run(day, team, id);
		return { id, isOther: false };
	};
	return {
		of(team, startedMs, text) {
			const day = dayNumberOf(startedMs);
			const key = `${day} ${team} ${text}`;
			const found = cached.get(key);
			if (found !== undefined) return found;
			const decided = decide(day, team, text);
			if (cached.size >= maxCached) cached.clear();
			cached.set(key, decided);
			return decided;
		},
		forget() {
			cached.clear();
			full.clear();
		},
	};
}
