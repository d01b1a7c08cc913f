/** Pages of lists. A cursor names the last row of its page, so that added and removed rows do not shift the next page. */
import { z } from 'zod';
import { fieldInvalid } from './fields-rejection.ts';

const defaultLimit = 100;

export const pageQuery = {
	limit: z.int().min(1).max(1000).optional().describe(`Records per page; default ${defaultLimit}.`),
	cursor: z.string().min(1).max(4096).optional().describe('`next_cursor` of the previous page.'),
};

export interface PageQuery {
	readonly limit?: number | undefined;
	readonly cursor?: string | undefined;
}

export interface Page<Row> {
	readonly data: readonly Row[];
	readonly next_cursor: string | null;
}

export function pageOf(row: z.ZodType) {
	return z.strictObject({
		data: z.array(row),
		next_cursor: z.string().nullable().describe('Cursor of the next page; null on the last page.'),
	});
}

export function limitOf({ limit = defaultLimit }: PageQuery): number {
	return limit;
}

/** Rows by name, ascending. */
export type SortedUsageRows<Row> = readonly { readonly name: string; readonly row: Row }[];

/** @param nameOf returns a unique name of each row. */
export function sortUsageRows<Row>(rows: readonly Row[], nameOf: (row: Row) => string): SortedUsageRows<Row> {
	return rows.map((row) => ({ row, name: nameOf(row) })).toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** @throws `FieldsRejection` `fields_invalid` for a cursor that no page returned. */
export function takePage<Row, Shown>(rows: SortedUsageRows<Row>, query: PageQuery, show: (row: Row) => Shown): Page<Shown> {
	const start = query.cursor === undefined ? 0 : firstAfter(rows, readCursor(query.cursor));
	const end = start + limitOf(query);
	const last = rows[end - 1];
	return {
		data: rows.slice(start, end).map(({ row }) => show(row)),
		next_cursor: last !== undefined && rows.length > end ? cursorOf(last.name) : null,
	};
}

function firstAfter(rows: SortedUsageRows<unknown>, cursor: string): number {
	let [low, high] = [0, rows.length];
	while (low < high) {
		const middle = (low + high) >>> 1;
		if ((rows[middle]?.name ?? '') > cursor) high = middle;
		else low = middle + 1;
	}
	return low;
}

/** Caches the last result until an argument changes, because lists of thousands are read page by page. */
export function whileSame<Given extends readonly unknown[], Made>(make: (...given: Given) => Made): (...given: Given) => Made {
	let known: { readonly given: Given; readonly made: Made } | undefined;
	return (...given) => {
		if (known === undefined || given.some((value, index) => value !== known?.given[index])) known = { given, made: make(...given) };
		return known.made;
	};
}

/** @throws `FieldsRejection` `fields_invalid` instead of a store's RangeError for a cursor that no page returned. */
export async function withCursor<Result>(read: () => Promise<Result>): Promise<Result> {
	try {
		return await read();
	} catch (cause) {
		if (cause instanceof RangeError) throw unknownCursor();
		throw cause;
	}
}

/** @param last JSON that identifies the last row of a page. */
export function cursorOf(last: unknown): string {
	return Buffer.from(JSON.stringify(last)).toString('base64url');
}

function readCursor(cursor: string): string {
	const name = decodeCursor(cursor);
	if (typeof name !== 'string') throw unknownCursor();
	return name;
}

/** @throws `FieldsRejection` `fields_invalid` for a text that `cursorOf` never produces. */
export function decodeCursor(cursor: string): unknown {
	let last: unknown;
	try {
		last = JSON.parse(Buffer.from(cursor, 'base64url').toString());
	} catch {
		throw unknownCursor();
	}
	if (cursorOf(last) !== cursor) throw unknownCursor();
	return last;
}

export function unknownCursor() {
	return fieldInvalid('cursor', 'is not a valid cursor: send a `next_cursor` unchanged, or omit it');
}
