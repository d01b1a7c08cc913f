import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { type EntryQuery, maxEntriesScanned } from '../../contracts/ledger.ts';
import { compactEntryFrom, outcomeNumber } from './compact-entries.ts';
import type { CompactEntry, CompactPage } from './ledger-operations.ts';

const maxRows = 1000;
const cursorPattern = /^[1-9]\d{0,15}$/;

/** Reads pages of entries. A cursor is the sequence number of its page's last row, so that later rows shift nothing. */
export function createEntryPages(database: DatabaseSync): (query: EntryQuery) => CompactPage {
	const ofAll = createPages(database, '');
	const ofTeam = createPages(database, 'team = (SELECT id FROM names WHERE name = :team) AND');
	return ({ team, clientId = null, provider = null, model = null, outcome, limit, cursor }) => {
		if (cursor !== undefined && !cursorPattern.test(cursor)) {
			throw new RangeError(`${JSON.stringify(cursor)} is not a valid cursor`);
		}
		const [pages, of] = team === undefined ? [ofAll, {}] : [ofTeam, { team }];
		const bounds = { ...of, before: cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(cursor) };
		const filters = { client: clientId, provider, model, outcome: outcome === undefined ? null : outcomeNumber(outcome) };
		const hasFilters = Object.values(filters).some((filter) => filter !== null);
		const max = Math.max(1, Math.min(limit, maxRows));
		const found = hasFilters ? pages.filtered({ ...bounds, ...filters, limit: max + 1 }) : pages.plain({ ...bounds, limit: max + 1 });
		if (found.length > max) return { rows: found.slice(0, max), nextCursor: String(found[max - 1]?.[0]) };
		return { rows: found, nextCursor: hasFilters ? pages.scanEnd(bounds) : null };
	};
}

type Values = Readonly<Record<string, SQLInputValue>>;

interface EntryPages {
	plain(values: Values): CompactEntry[];
	filtered(values: Values): CompactEntry[];
	/** Position after the scanned rows; null when there are no more. */
	scanEnd(values: Values): string | null;
}

function createPages(database: DatabaseSync, condition: string): EntryPages {
	const newest = `FROM calls WHERE ${condition} sequence < :before ORDER BY sequence DESC`;
	const scanned = `${newest} LIMIT ${maxEntriesScanned}`;
	const plain = prepareEntries(database, `${newest} LIMIT :limit`);
	const filtered = prepareEntries(
		database,
		`FROM (SELECT * ${scanned}) AS calls
		WHERE (:client IS NULL OR client = (SELECT id FROM names WHERE name = :client))
			AND (:provider IS NULL OR provider = (SELECT id FROM names WHERE name = :provider))
			AND (:model IS NULL OR model = (SELECT id FROM names WHERE name = :model))
			AND (:outcome IS NULL OR outcome = :outcome)
		ORDER BY sequence DESC LIMIT :limit`,
	);
	const end = database.prepare(`SELECT count(*) AS count, min(sequence) AS last FROM (SELECT sequence ${scanned})`);
	return {
		plain: (values) => rowsOf(plain.all(values)),
		filtered: (values) => rowsOf(filtered.all(values)),
		scanEnd(values) {
			const { count, last } = end.get(values) ?? {};
			return count === maxEntriesScanned ? String(last) : null;
		},
	};
}

/** Decodes rows by the position of the columns that `prepareEntries` selects, without their names. */
export function rowsOf(found: readonly unknown[]): CompactEntry[] {
	return found.map(compactEntryFrom);
}

export function prepareEntries(database: DatabaseSync, from: string): StatementSync {
	const statement = database.prepare(`
		SELECT sequence, ${idText}, started_ms,
			(SELECT name FROM names WHERE id = calls.team),
			(SELECT name FROM names WHERE id = calls.client),
			(SELECT name FROM names WHERE id = calls.provider),
			(SELECT name FROM names WHERE id = calls.model),
			(SELECT name FROM names WHERE id = calls.dialect),
			is_streamed,
			(SELECT name FROM names WHERE id = calls.price_version),
			(SELECT name FROM names WHERE id = calls.budgets),
			coalesce((SELECT name FROM names WHERE id = calls.endpoint), ''),
			coalesce(other_attributes, (SELECT name FROM names WHERE id = calls.attributes), ''),
			${exact('hold_nano_usd')}, outcome, duration_ms, status, is_estimated, input_tokens, cache_read_tokens, cache_write_tokens,
			cache_write_hour_tokens, output_tokens, reasoning_tokens, ${exact('cost_nano_usd')}
		${from}`);
	statement.setReturnArrays(true);
	return statement;
}

/** SQL equivalent of `readRequestId`. */
export const idText = `iif(typeof(id) = 'blob', 'req_' || lower(hex(id)), id)`;

function exact(column: string): string {
	return `iif(${column} > ${Number.MAX_SAFE_INTEGER}, CAST(${column} AS TEXT), ${column})`;
}
