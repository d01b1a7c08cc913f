/** Readers for columns of a row of any database: a value of another type is a `TypeError`. */
import { type Decode, listOf, textFrom } from './decode.ts';

export type Row = Readonly<Record<string, unknown>>;

export function textOf(row: Row, column: string): string {
	const value = row[column];
	if (typeof value !== 'string') throw new TypeError(`Column ${column} is not text`);
	return value;
}

export function textOrNullOf(row: Row, column: string): string | null {
	return row[column] === null ? null : textOf(row, column);
}

export function integerOf(row: Row, column: string): number {
	const value = row[column];
	if (typeof value !== 'number' && typeof value !== 'bigint') throw new TypeError(`Column ${column} is not a number`);
	return Number(value);
}

export function integerOrNullOf(row: Row, column: string): number | null {
	return row[column] === null ? null : integerOf(row, column);
}

export function bigintOf(row: Row, column: string): bigint {
	const value = row[column];
	if (typeof value !== 'bigint') throw new TypeError(`Column ${column} was not read as a bigint`);
	return value;
}

/** SQLite stores 0 and 1. */
export function booleanOf(row: Row, column: string): boolean {
	const value = row[column];
	return typeof value === 'boolean' ? value : integerOf(row, column) === 1;
}

/** SQLite returns the text; the PostgreSQL driver has parsed it. */
export function jsonOf<Value>(row: Row, column: string, decode: Decode<Value>): Value {
	const value = row[column];
	const parsed: unknown = typeof value === 'string' ? JSON.parse(value) : value;
	return decode(parsed);
}

/** SQLite stores words separated by spaces, PostgreSQL a list. */
export function wordsOf(row: Row, column: string): readonly string[] {
	const value = row[column];
	return typeof value === 'string' ? value.split(' ').filter(Boolean) : listOf(textFrom)(value);
}
