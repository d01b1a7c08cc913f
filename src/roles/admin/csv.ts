/** Comma-separated values (RFC 4180), safe against formula injection in spreadsheets. */
import type { CsvResponse } from './operation.ts';

type Cell = string | number | boolean | null;

/** Writes rows in the order of `columns`; missing values are empty. */
export function csvResponse<Column extends string>(
	columns: readonly Column[],
	rows: readonly { readonly [Name in Column]?: Cell | undefined }[],
): CsvResponse {
	const lines = [columns.join(','), ...rows.map((row) => columns.map((column) => cellText(row[column])).join(','))];
	return { headers: { 'content-type': 'text/csv; charset=utf-8; header=present' }, text: `${lines.join('\r\n')}\r\n` };
}

/** Prefixes text that begins like a formula with an apostrophe, which marks it as text in spreadsheets. */
function cellText(cell: Cell | undefined): string {
	if (typeof cell !== 'string') return String(cell ?? '');
	const text = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/.test(cell) ? `'${cell}` : cell;
	return /^[A-Za-z0-9_.:/ -]*$/.test(text) ? text : `"${text.replaceAll('"', '""')}"`;
}
