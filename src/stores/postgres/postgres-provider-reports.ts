import { sql } from 'kysely';
import type { ProviderReports } from '../contracts/records.ts';
import type { RecordsDatabase } from './records-database.ts';

/** Bypasses the serialization of record changes: a report has one writer, and is not announced. */
export function createPostgresProviderReports({ read }: RecordsDatabase): ProviderReports {
	return {
		put: (process, report, lifeMs) =>
			read(async (db) => {
				const reported = {
					report: JSON.stringify(report),
					expires_at: sql<Date>`clock_timestamp() + ${lifeMs} * interval '1 millisecond'`,
				};
				await db
					.insertInto('provider_reports')
					.values({ process, ...reported })
					.onConflict((conflict) => conflict.column('process').doUpdateSet(reported))
					.execute();
				await db.deleteFrom('provider_reports').where('expires_at', '<=', sql<Date>`clock_timestamp()`).execute();
			}),
		forget: (process) => read(async (db) => void (await db.deleteFrom('provider_reports').where('process', '=', process).execute())),
		read: () =>
			read(async (db) => {
				const current = db
					.selectFrom('provider_reports')
					.select(['process', 'report'])
					.where('expires_at', '>', sql<Date>`clock_timestamp()`);
				return new Map((await current.orderBy('process').execute()).map(({ process, report }) => [process, report]));
			}),
	};
}
