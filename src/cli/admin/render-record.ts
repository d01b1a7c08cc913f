import { formatTable } from '../format-table.ts';
import { plainText } from './plain-text.ts';
import type { Column, Row } from './resources.ts';

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
	const plain = flatten(record);
	const tables = listsOf(record).map(([name, rows]) => {
		const flat = rows.map((row) => new Map(flatten(row)));
		const members = [...new Set(flat.flatMap((row) => [...row.keys()]))];
		const cells = flat.map((row) => members.map((member) => row.get(member) ?? '-'));
		return `\n${name}\n${formatTable(
			members.map((member) => member.toUpperCase()),
			cells,
			hasStyle,
		)}`;
	});
	return formatTable(['FIELD', 'VALUE'], plain, hasStyle) + tables.join('');
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
