import { sql } from 'kysely';
import type { Clock } from '../../core/clock.ts';
import type { ResponseOwners } from '../contracts/response-owners.ts';
import type { RecordsDatabase } from './records-database.ts';

/** Bypasses the serialization of record changes, because a response is not announced. */
export function createPostgresResponseOwners({ read }: RecordsDatabase, clock: Pick<Clock, 'nowMs'>): ResponseOwners {
	return {
		note: (ids, { team, provider, model, expiresAtMs }) =>
			read(async (db) => {
				if (ids.length === 0) return;
				// Sorted, because two processes that insert the same ids in different orders could deadlock.
				const rows = [...new Set(ids)].toSorted().map((id) => ({ id, team, provider, model, expires_at_ms: expiresAtMs }));
				await db
					.insertInto('response_owners')
					.values(rows)
					.onConflict((conflict) =>
						conflict
							.column('id')
							.doUpdateSet({ team, provider, model, expires_at_ms: expiresAtMs })
							.where((where) =>
								where.or([
									where('response_owners.team', '=', team),
									where('response_owners.expires_at_ms', '<=', sql<bigint>`${clock.nowMs()}`),
								]),
							),
					)
					.execute();
			}),
		find: (ids) =>
			read(async (db) => {
				if (ids.length === 0) return new Map();
				const found = await db
					.selectFrom('response_owners')
					.select(['id', 'team', 'provider', 'model', 'expires_at_ms'])
					.where('id', '=', sql<string>`any(${ids})`)
					.where('expires_at_ms', '>', sql<bigint>`${clock.nowMs()}`)
					.execute();
				return new Map(
					found.map(({ id, team, provider, model, expires_at_ms }) => [id, { team, provider, model, expiresAtMs: Number(expires_at_ms) }]),
				);
			}),
		forget: (id) => read(async (db) => void (await db.deleteFrom('response_owners').where('id', '=', id).execute())),
		sweep: (maxIds) =>
			read(async (db) => {
				// Rows that another process is removing are skipped.
				const expired = db
					.selectFrom('response_owners')
					.select('sequence')
					.where('expires_at_ms', '<=', sql<bigint>`${clock.nowMs()}`)
					.forUpdate()
					.skipLocked();
				await db.deleteFrom('response_owners').where('sequence', 'in', expired).execute();
				const newest = db.selectFrom('response_owners').select(sql<bigint>`max(sequence) - ${maxIds}`.as('sequence'));
				const surplus = db.selectFrom('response_owners').select('sequence').where('sequence', '<=', newest).forUpdate().skipLocked();
				await db.deleteFrom('response_owners').where('sequence', 'in', surplus).execute();
			}),
	};
}
