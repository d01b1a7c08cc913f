/** Changes single settings of a TOML text; all other bytes stay. Reads only what that needs: where statements begin, and their keys. */
import { CommandFailure } from '../command-failure.ts';
import type { ChangedSettings } from './json-settings.ts';

type TomlValue = string | number | readonly string[];
type TomlKeys = Readonly<Record<string, TomlValue>>;

export interface TomlTable {
	readonly path: readonly string[];
	readonly keys: TomlKeys;
}

export interface TomlSettings {
	/** Keys before the first table. */
	readonly keys: TomlKeys;
	/** Tables that belong to these settings; further keys of them are kept. */
	readonly tables: readonly TomlTable[];
}

interface Statement {
	readonly start: number;
	/** After the line break. */
	readonly end: number;
	readonly isHeader: boolean;
	/** Keys of a header; of a value, those of its table and its own. */
	readonly path: readonly string[];
}

interface Edit {
	readonly start: number;
	readonly end: number;
	readonly text: string;
}

/** @param text undefined if there is no file yet. @throws CommandFailure 1 if the text cannot be changed safely. */
export function changeToml(text: string | undefined, settings: TomlSettings): ChangedSettings {
	let source = text ?? '';
	if (source !== '' && !source.endsWith('\n')) source += '\n';
	const replaced: string[] = [];
	const statements = readStatements(source);
	for (const { path } of settings.tables) rejectOtherForms(source, statements, path);
	// One table at a time, because each change moves the positions of what follows.
	for (const table of [{ path: [], keys: settings.keys }, ...settings.tables]) source = changeTable(source, table, replaced);
	return { text: source, replaced };
}

export function renderToml({ keys, tables }: TomlSettings): string {
	return [renderKeys(keys), ...tables.map(renderTable)].join('\n');
}

function renderTable({ path, keys }: TomlTable): string {
	return `[${path.join('.')}]\n${renderKeys(keys)}`;
}

function renderKeys(keys: TomlKeys): string {
	return Object.entries(keys)
		.map(([name, value]) => renderKey(name, value))
		.join('');
}

function renderKey(name: string, value: TomlValue): string {
	// A JSON string is a TOML basic string.
	const text = typeof value === 'object' ? `[${value.map((item) => JSON.stringify(item)).join(', ')}]` : JSON.stringify(value);
	return `${name} = ${text}\n`;
}

function changeTable(source: string, table: TomlTable, replaced: string[]): string {
	const statements = readStatements(source);
	const { path, keys } = table;
	const header = statements.find((one) => one.isHeader && isSame(one.path, path));
	if (path.length > 0 && header === undefined) return `${source}${source === '' ? '' : '\n'}${renderTable(table)}`;
	const edits: Edit[] = [];
	let missing = '';
	for (const [name, value] of Object.entries(keys)) {
		const found = statements.find((one) => !one.isHeader && isSame(one.path, [...path, name]));
		const text = renderKey(name, value);
		if (found === undefined) {
			missing += text;
		} else if (source.slice(found.start, found.end).trim() !== text.trim()) {
			edits.push({ start: found.start, end: found.end, text });
			replaced.push([...path, name].join('.'));
		}
	}
	const at = path.length > 0 ? (header?.end ?? source.length) : endOfFirstKeys(statements);
	if (missing !== '') edits.push({ start: at, end: at, text: at === 0 && source !== '' ? `${missing}\n` : missing });
	return edits
		.toSorted((one, other) => other.start - one.start)
		.reduce((changed, { start, end, text }) => changed.slice(0, start) + text + changed.slice(end), source);
}

/** End of the last key before the first header; 0 if there is none. */
function endOfFirstKeys(statements: readonly Statement[]): number {
	const firstHeader = statements.findIndex(({ isHeader }) => isHeader);
	return statements.slice(0, firstHeader < 0 ? undefined : firstHeader).at(-1)?.end ?? 0;
}

/** Rejects a table that is spelled as dotted keys or as an inline table, which a header would then define twice. */
function rejectOtherForms(source: string, statements: readonly Statement[], path: readonly string[]): void {
	const hasHeader = statements.some((one) => one.isHeader && isSame(one.path, path));
	const other = statements.find(({ isHeader, path: own }) => {
		if (isHeader) return false;
		if (own.length <= path.length) return isSame(own, path.slice(0, own.length));
		return !hasHeader && isSame(own.slice(0, path.length), path);
	});
	if (other === undefined) return;
	const line = source.slice(0, other.start).split('\n').length;
	throw new CommandFailure(1, `line ${line} sets ${other.path.join('.')} without a table header: add the settings by hand`);
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
	return one.length === other.length && one.every((key, index) => key === other[index]);
}

function readStatements(source: string): Statement[] {
	const statements: Statement[] = [];
	let table: readonly string[] = [];
	const blank = /[ \t\r]*(?:#[^\n]*)?(?:\n|$)/y;
	for (let start = 0; start < source.length; ) {
		blank.lastIndex = start;
		if (blank.test(source)) {
			start = Math.max(blank.lastIndex, start + 1);
			continue;
		}
		const end = endOfStatement(source, start);
		const text = source.slice(start, end).trimStart();
		const isHeader = text.startsWith('[');
		const keys = readKeys(text.replace(/^\[\[?/, ''));
		if (keys === undefined) {
			const line = source.slice(0, start).split('\n').length;
			throw new CommandFailure(1, `line ${line} of the file is not TOML: correct it, or add the settings by hand`);
		}
		if (isHeader) table = keys;
		statements.push({ start, end, isHeader, path: isHeader ? keys : [...table, ...keys] });
		start = end;
	}
	return statements;
}

/** Reads the dotted key at the start of a text; undefined if there is none. */
function readKeys(text: string): string[] | undefined {
	const keys: string[] = [];
	const key = /[ \t]*(?:"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)'|([\w-]+))[ \t]*(\.?)/y;
	for (let hasMore = true; hasMore; ) {
		const match = key.exec(text);
		if (match === null) return undefined;
		keys.push(match[1] ?? match[2] ?? match[3] ?? '');
		hasMore = match[4] === '.';
	}
	return keys;
}

/** Finds the line break that ends a statement: none in a string, an array or an inline table. */
function endOfStatement(source: string, start: number): number {
	const piece = /"""(?:[^\\]|\\[^])*?"{3,5}|'''[^]*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*|[[{]|[\]}]|\n|[^]/y;
	piece.lastIndex = start;
	let depth = 0;
	for (let match = piece.exec(source); match !== null; match = piece.exec(source)) {
		if (match[0] === '[' || match[0] === '{') depth += 1;
		else if (match[0] === ']' || match[0] === '}') depth -= 1;
		else if (match[0] === '\n' && depth <= 0) return piece.lastIndex;
	}
	return source.length;
}
