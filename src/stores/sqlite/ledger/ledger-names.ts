import type { DatabaseSync } from 'node:sqlite';
import { decodeJson, itemsFrom, numberFrom, textFrom } from '../../decode.ts';
import { integerOf } from '../../row.ts';
import type { CompactOpen } from './ledger-operations.ts';

/** Bounded, because clients choose model names. */
const maxCached = 10_000;
/** Bounded, because a list of budgets has any length. */
const maxCachedLength = 2048;

/** Fields that many requests share, with the numbers of their names. */
export interface EntryTerms {
	readonly team: number;
	readonly client: number;
	readonly provider: number;
	readonly model: number;
	readonly dialect: number;
	readonly isStreaming: number;
	readonly priceVersion: number;
	readonly budgets: number;
	/** 0 for none. */
	readonly endpoint: number;
	/** Number of their name in the sums, 0 for none; `AttributeNames` decides for others. */
	readonly attributes: 0;
	readonly attributesText: string;
}

export interface LedgerNames {
	/** For use inside a transaction. */
	idOf(name: string): number;
	/** Likewise. @returns undefined for an unknown name. */
	find(name: string): number | undefined;
	/** Likewise. @param text as in a `EntryOpening`. */
	termsOf(text: string): EntryTerms;
	/** Must follow a failed transaction, because the names that it added were rolled back. */
	forget(): void;
}

type TermValues = CompactOpen extends readonly [string, number, ...infer Values, number | string] ? Values : never;

function termValuesFrom(value: unknown): TermValues {
	const [team, client, provider, model, dialect, isStreaming, priceVersion, budgets, endpoint, attributes] = itemsFrom(value);
	return [
		textFrom(team),
		textFrom(client),
		textFrom(provider),
		textFrom(model),
		textFrom(dialect),
		numberFrom(isStreaming),
		textFrom(priceVersion),
		textFrom(budgets),
		textFrom(endpoint),
		textFrom(attributes),
	];
}

export function createLedgerNames(database: DatabaseSync): LedgerNames {
	const select = database.prepare('SELECT id FROM names WHERE name = ?');
	const insert = database.prepare('INSERT INTO names (name) VALUES (?)');
	const ids = new Map<string, number>();
	const termsByText = new Map<string, EntryTerms>();
	const find = (name: string): number | undefined => {
		const known = ids.get(name);
		if (known !== undefined) return known;
		const row = select.get(name);
		if (row === undefined) return undefined;
		const id = integerOf(row, 'id');
		cache(ids, name, id);
		return id;
	};
	const idOf = (name: string): number => {
		const known = find(name);
		if (known !== undefined) return known;
		const id = Number(insert.run(name).lastInsertRowid);
		cache(ids, name, id);
		return id;
	};
	const termsOf = (text: string): EntryTerms => {
		const known = termsByText.get(text);
		if (known !== undefined) return known;
		const values = decodeJson(`[${text}]`, termValuesFrom);
		const [team, client, provider, model, dialect, isStreaming, priceVersion, budgets, endpoint, attributesText] = values;
		const terms: EntryTerms = {
			team: idOf(team),
			client: idOf(client),
			provider: idOf(provider),
			model: idOf(model),
			dialect: idOf(dialect),
			isStreaming,
			priceVersion: idOf(priceVersion),
			budgets: idOf(budgets),
			endpoint: endpoint === '' ? 0 : idOf(endpoint),
			attributes: 0,
			attributesText,
		};
		// A separate string: the given one may be a slice of a whole batch, which it would keep in memory.
		cache(termsByText, JSON.stringify(values).slice(1, -1), terms);
		return terms;
	};
	return {
		idOf,
		find,
		termsOf,
		forget() {
			ids.clear();
			termsByText.clear();
		},
	};
}

function cache<Value>(cached: Map<string, Value>, text: string, value: Value): void {
	if (text.length > maxCachedLength) return;
	if (cached.size >= maxCached) cached.clear();
	cached.set(text, value);
}
