/** Pages of lists. A cursor names the last row of its page, so that rows which come and go move nothing. */
import { z } from 'zod';
import { fieldInvalid } from './fields-refusal.ts';

const defaultLimit = 100;

export const pageQuery = {
	limit: z.int().min(1).max(1000).optional().describe(`Rows of a page; ${defaultLimit} unless given.`),
	cursor: z.string().min(1).max(4096).optional().describe('`next_cursor` of the page before.'),
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
		next_cursor: z.string().nullable().describe('For the next page; null on the last one.'),
	});
}

export function limitOf({ limit = defaultLimit }: PageQuery): number {
	return limit;
}

/**
 * @param nameOf tells rows apart, and orders them. @param rows ordered so or not.
 * @throws FieldsRefusal `fields_invalid` for a cursor that no page gave.
 */
export function takePage<Row>(rows: readonly Row[], nameOf: (row: Row) => string, query: PageQuery): Page<Row> {
	const after = query.cursor === undefined ? undefined : readCursor(query.cursor);
	const named = rows.map((row) => ({ row, name: nameOf(row) })).toSorted((one, other) => (one.name < other.name ? -1 : 1));
	const rest = after === undefined ? named : named.filter(({ name }) => name > after);
	const page = rest.slice(0, limitOf(query));
	const last = page.at(-1);
	return { data: page.map(({ row }) => row), next_cursor: last !== undefined && rest.length > page.length ? cursorOf(last.name) : null };
}

/** @throws FieldsRefusal `fields_invalid` in place of a store's RangeError for a cursor that no page gave. */
export async function withCursor<Result>(read: () => Promise<Result>): Promise<Result> {
	try {
		return await read();
	} catch (cause) {
		if (cause instanceof RangeError) throw unknownCursor();
		throw cause;
	}
}

function cursorOf(name: string): string {
	return Buffer.from(JSON.stringify(name)).toString('base64url');
}

function readCursor(cursor: string): string {
	let name: unknown;
	try {
		name = JSON.parse(Buffer.from(cursor, 'base64url').toString());
	} catch {
		throw unknownCursor();
	}
	if (typeof name !== 'string' || cursorOf(name) !== cursor) throw unknownCursor();
	return name;
}

function unknownCursor() {
	return fieldInvalid('cursor', 'is none that a page gave');
}
