import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { RowPage, RowQuery } from '../../contracts/ledger.ts';
import { bigintOf } from '../database.ts';
import { ledgerRowOf } from './compact-rows.ts';

const mostRows = 1000;
const cursorPattern = /^[1-9]\d{0,15}$/;

/** A cursor is the sequence number of its page's last row, so that rows which come later move nothing. */
export function createCallPages(database: DatabaseSync): (query: RowQuery) => RowPage {
	const ofAll = preparePage(database, '');
	const ofTeam = preparePage(database, 'team = (SELECT id FROM names WHERE name = :team) AND');
	return ({ team, limit, cursor }) => {
		if (cursor !== undefined && !cursorPattern.test(cursor)) {
			throw new RangeError(`${JSON.stringify(cursor)} is not a cursor of this ledger`);
		}
		const most = Math.max(1, Math.min(limit, mostRows));
		const bounds = { before: cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(cursor), limit: most + 1 };
		const found = team === undefined ? ofAll.all(bounds) : ofTeam.all({ ...bounds, team });
		const rows = found.slice(0, most);
		const last = rows.at(-1);
		return {
			rows: rows.map(ledgerRowOf),
			nextCursor: found.length > most && last !== undefined ? String(bigintOf(last, 'sequence')) : null,
		};
	};
}

/** What `ledgerRowOf` reads, and the sequence number. */
export const ledgerRowColumns = `
	sequence, id, started_ms, form, hold_nano_usd, outcome, duration_ms, status, is_estimated, input_tokens, cache_read_tokens,
	cache_write_tokens, cache_write_hour_tokens, output_tokens, reasoning_tokens, cost_nano_usd,
	(SELECT name FROM names WHERE id = calls.team) AS team,
	(SELECT name FROM names WHERE id = calls.client) AS client,
	(SELECT name FROM names WHERE id = calls.provider) AS provider,
	(SELECT name FROM names WHERE id = calls.model) AS model,
	(SELECT name FROM names WHERE id = calls.price_version) AS price_version,
	(SELECT name FROM names WHERE id = calls.budgets) AS budgets`;

function preparePage(database: DatabaseSync, condition: string): StatementSync {
	const statement = database.prepare(`
		SELECT ${ledgerRowColumns} FROM calls WHERE ${condition} sequence < :before ORDER BY sequence DESC LIMIT :limit`);
	statement.setReadBigInts(true);
	return statement;
}
