import { formatTable } from '../format-table.ts';
import { plainText } from './plain-text.ts';
import type { Column, Row } from './resource.ts';

export function renderRows(columns: readonly Column[], rows: readonly Row[], hasStyle: boolean): string {
	const cells = rows.map((row) => columns.map(([, member]) => (typeof member === 'string' ? cellOf(valueAt(row, member)) : member(row))));
	return formatTable(
		columns.map(([heading]) => heading),
		cells,
		hasStyle,
	);
}

/** Prints plain members first, then a table for each list of objects. */
export function renderRecord(record: Row, hasStyle: boolean): string {
	const tables = listsOf(record).flatMap(([name, rows]) => tablesOf(name, rows));
	const rendered = tables.map(([name, headings, cells]) => `\n${name}\n${formatTable(headings, cells, hasStyle)}`);
	return formatTable(['FIELD', 'VALUE'], flatten(record), hasStyle) + rendered.join('');
}

type Table = readonly [name: string, headings: readonly string[], cells: readonly string[][]];

/** Returns the table of a list, then those of the lists inside its rows. Their first column repeats the first cell of the outer row. */
function tablesOf(name: string, rows: readonly Row[]): Table[] {
	const flat = rows.map((row) => flatten(row));
	const members = [...new Set(flat.flatMap((row) => row.map(([member]) => member)))];
	const cells = flat.map((row) => members.map((member) => new Map(row).get(member) ?? '-'));
	const inner = rows.flatMap((row, index) =>
		listsOf(row).map(
			([list, items]) => [list, items.map((item) => ({ ...Object.fromEntries(flat[index]?.slice(0, 1) ?? []), ...item }))] as const,
		),
	);
	return [
		[name, members.map((member) => member.toUpperCase()), cells],
		...[...Map.groupBy(inner, ([list]) => list)].flatMap(([list, parts]) =>
			tablesOf(
				`${name}.${list}`,
				parts.flatMap(([, items]) => items),
			),
		),
	];
}

function listsOf(row: Row, prefix = ''): [name: string, rows: Row[]][] {
	return Object.entries(row).flatMap(([name, value]) => {
		if (isRow(value)) return listsOf(value, `${prefix}${name}.`);
		return isListOfRows(value) && value.length > 0 ? [[`${prefix}${name}`, value] as [string, Row[]]] : [];
	});
}

function flatten(row: Row, prefix = ''): [name: string, cell: string][] {
	return Object.entries(row).flatMap(([name, value]) => {
		if (isRow(value)) return flatten(value, `${prefix}${name}.`);
		return isListOfRows(value) && value.length > 0 ? [] : [[`${prefix}${name}`, cellOf(value)] as [string, string]];
	});
}

function cellOf(value: unknown): string {
	if (value === null || value === undefined || value === '') return '-';
	if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(plainText).join(',');
	return plainText(value);
}

function valueAt(row: Row, member: string): unknown {
	let at: unknown = row;
	for (const name of member.split('.')) at = isRow(at) ? at[name] : undefined;
	return at;
}

function isRow(value: unknown): value is Row {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isListOfRows(value: unknown): value is Row[] {
	return Array.isArray(value) && value.every(isRow);
}
