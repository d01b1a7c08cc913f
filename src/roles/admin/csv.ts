/** Comma-separated values (RFC 4180) that no spreadsheet takes for formulas. */
import type { Answer } from './operation.ts';

type Cell = string | number | boolean | null;

/** Rows in the order of `columns`; what a row lacks is empty. */
export function csvAnswer<Column extends string>(
	columns: readonly Column[],
	rows: readonly { readonly [Name in Column]?: Cell | undefined }[],
): Answer {
	const lines = [columns.join(','), ...rows.map((row) => columns.map((column) => cellText(row[column])).join(','))];
	return { headers: { 'content-type': 'text/csv; charset=utf-8; header=present' }, text: `${lines.join('\r\n')}\r\n` };
}

/** What begins like a formula gets an apostrophe before it, by which spreadsheets know text. */
function cellText(cell: Cell | undefined): string {
	if (typeof cell !== 'string') return String(cell ?? '');
	const text = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/.test(cell) ? `'${cell}` : cell;
	return /^[A-Za-z0-9_.:/ -]*$/.test(text) ? text : `"${text.replaceAll('"', '""')}"`;
}
