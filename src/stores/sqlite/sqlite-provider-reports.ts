import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../core/clock.ts';
import { type HealthReport, type ProviderRateLimit, type ProviderReport, rateLimitKinds } from '../../core/health-report.ts';
import type { ProviderReports } from '../contracts/records.ts';
import { byName, type Decode, decodeJson, listOf, membersFrom, numberFrom, oneOf, orNull, textFrom } from '../decode.ts';
import { readMigrations } from '../read-migrations.ts';
import { textOf } from '../row.ts';
import { read } from './database.ts';
import { migrate } from './migrate.ts';
import { openDatabase } from './open-database.ts';

export interface SqliteProviderReports extends ProviderReports {
	close(): void;
}

const stateFrom = oneOf(['healthy', 'unhealthy', 'unknown']);
const kindFrom = oneOf(rateLimitKinds);
const rateLimitsFrom = listOf((value): ProviderRateLimit => {
	const { model, kind, limit, remaining, resetsAtMs, reportedAtMs } = membersFrom(value);
	return {
		model: textFrom(model),
		kind: kindFrom(kind),
		limit: orNull(numberFrom)(limit),
		remaining: numberFrom(remaining),
		resetsAtMs: orNull(numberFrom)(resetsAtMs),
		reportedAtMs: numberFrom(reportedAtMs),
	};
});
const reportFrom: Decode<ProviderReport> = byName((value): HealthReport => {
	const { state, sinceMs, detail, rateLimits } = membersFrom(value);
	const health = { state: stateFrom(state), sinceMs: orNull(numberFrom)(sinceMs), detail: orNull(textFrom)(detail) };
	return rateLimits === undefined ? health : { ...health, rateLimits: rateLimitsFrom(rateLimits) };
});

const migrations = new URL('migrations/provider-reports/', import.meta.url);

/** Uses a separate file, opened on first use, so that reports do not trigger the polling of record changes. */
export function createSqliteProviderReports(dataDir: string, clock: Clock): SqliteProviderReports {
	let opened: ReturnType<typeof statementsOf> | undefined;
	const statements = (): ReturnType<typeof statementsOf> =>
		(opened ??= statementsOf(
			openDatabase(join(dataDir, 'provider-reports.db'), (database) => migrate(database, readMigrations(migrations)), 'process'),
		));
	return {
		put: (process, report, lifeMs) =>
			read(() => {
				const { put, deleteExpired } = statements();
				put.run(process, JSON.stringify(report), clock.nowMs() + lifeMs);
				deleteExpired.run(clock.nowMs());
			}),
		forget: (process) => read(() => void statements().remove.run(process)),
		read: () =>
			read(() => {
				const rows = statements().selectCurrent.all(clock.nowMs());
				return new Map(rows.map((row) => [textOf(row, 'process'), decodeJson(textOf(row, 'report'), reportFrom)]));
			}),
		close() {
			if (opened?.database.isOpen === true) opened.database.close();
		},
	};
}

function statementsOf(database: DatabaseSync) {
	return {
		database,
		put: database.prepare('INSERT OR REPLACE INTO provider_reports (process, report, expires_at_ms) VALUES (?, ?, ?)'),
		remove: database.prepare('DELETE FROM provider_reports WHERE process = ?'),
		deleteExpired: database.prepare('DELETE FROM provider_reports WHERE expires_at_ms <= ?'),
		selectCurrent: database.prepare('SELECT process, report FROM provider_reports WHERE expires_at_ms > ? ORDER BY process'),
	};
}
