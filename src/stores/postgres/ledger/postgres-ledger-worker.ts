/** Entry point of the ledger thread that owns the PostgreSQL connections. */

import { workerData } from 'node:worker_threads';
import { sql } from 'kysely';
import type { Clock } from '../../../core/clock.ts';
import { dayNumberOf } from '../../../core/day-number.ts';
import { requireAssessmentCursor } from '../../contracts/assessments.ts';
import { decodeJson, listOf, membersFrom, textFrom } from '../../decode.ts';
import { serveWorkerOperations } from '../../store-thread.ts';
import { msPerDay } from '../../sum-tables.ts';
import { migrate } from '../migrate.ts';
import { openPostgres, type PostgresConnection, type PostgresSettings } from '../postgres-connection.ts';
import { checkLedger } from './ledger-check.ts';
import { type Database, makeDay, shareDays } from './ledger-days.ts';
import { listEntries, readTeam, requireCursor, sumCosts, summarize } from './ledger-reading.ts';
import { closeLost, pruneDays } from './ledger-upkeep.ts';
import { listAssessments, pruneAssessments, sendAssessments, verdictsOf } from './postgres-assessments.ts';
import type { PostgresLedgerOperations } from './postgres-ledger-operations.ts';
import { postgresLedgerSchema } from './postgres-ledger-schema.ts';
import { createSendEntries } from './send-entries.ts';
import { assessmentFrom, spooledEntryFrom } from './spooled-texts.ts';

export type PostgresLedgerThreadData = Pick<PostgresSettings, 'url'>;

function threadDataFrom(value: unknown): PostgresLedgerThreadData {
	return { url: textFrom(membersFrom(value)['url']) };
}

/** Deadline for reports; their readers do not wait longer. */
const reportDeadlineMs = 5_000;
/** Deadline for a batch on a slow server. */
const sendingDeadlineMs = 15_000;
/** Deadline for one statement of a check, or for dropping one partition. */
const upkeepDeadlineMs = 60_000;

const clock: Clock = {
	nowMs: () => Date.now(),
	monotonicMs: () => performance.now(),
	after(delayMs, task) {
		const timer = setTimeout(task, delayMs);
		return { cancel: () => clearTimeout(timer) };
	},
};
const log = { debug() {}, info() {}, warn() {}, error() {} };

type Connection = PostgresConnection<unknown>;

function postgresLedgerOperations(): PostgresLedgerOperations {
	const { url } = threadDataFrom(workerData);
	const opened = new Map<number, Connection>();
	const connect = (deadlineMs: number): Connection => {
		const connection = opened.get(deadlineMs) ?? openPostgres<unknown>({ url, deadlineMs, poolSize: 2 }, { clock, log });
		opened.set(deadlineMs, connection);
		return connection;
	};
	let migrated: Promise<unknown> | undefined;
	const run = async <Result>(deadlineMs: number, statements: (db: Database) => Promise<Result>): Promise<Result> => {
		migrated ??= within(upkeepDeadlineMs, prepare(connect(reportDeadlineMs)));
		try {
			await migrated;
			return await connect(deadlineMs).run(shareDaysWhenDenied(statements));
		} catch (cause) {
			// The next connection may lead to another database.
			migrated = undefined;
			throw cause;
		}
	};
	const sendEntries = createSendEntries();
	return {
		open: () => connect(reportDeadlineMs).address,
		async send(text) {
			const rows = decodeJson(text, listOf(spooledEntryFrom));
			const rejected = await run(sendingDeadlineMs, async (db) => {
				if (rows.length > 0) return sendEntries(db, rows);
				await sql`SELECT 1`.execute(db);
				return [];
			});
			return rejected.map(({ id, cause }) => ({ id, why: connect(sendingDeadlineMs).describe(cause).message }));
		},
		async sendAssessments(text) {
			await run(sendingDeadlineMs, (db) => sendAssessments(db, decodeJson(text, listOf(assessmentFrom))));
			return null;
		},
		async listAssessments(query) {
			requireAssessmentCursor(query);
			return run(reportDeadlineMs, (db) => listAssessments(db, query));
		},
		verdictsOf: (requestIds) => run(reportDeadlineMs, (db) => verdictsOf(db, requestIds)),
		summarize: (query) => run(reportDeadlineMs, (db) => summarize(db, query)),
		sumCosts: (query) => run(reportDeadlineMs, (db) => sumCosts(db, query)),
		async list(query) {
			requireCursor(query);
			return run(reportDeadlineMs, (db) => listEntries(db, query));
		},
		readTeam: (query) => run(reportDeadlineMs, (db) => readTeam(db, query)),
		check: () => run(upkeepDeadlineMs, checkLedger),
		prune: (beforeMs) =>
			run(upkeepDeadlineMs, async (db) => {
				await pruneAssessments(db, beforeMs);
				return pruneDays(db, beforeMs);
			}),
		upkeep: ({ nowMs, retainDays }) =>
			run(upkeepDeadlineMs, async (db) => {
				for (const day of [0, 1]) await makeDay(db, dayNumberOf(nowMs) + day);
				const lost = await closeLost(db, nowMs);
				if (retainDays === null) return lost;
				await pruneAssessments(db, (dayNumberOf(nowMs) - retainDays) * msPerDay);
				await pruneDays(db, (dayNumberOf(nowMs) - retainDays) * msPerDay);
				return lost;
			}),
		async stop() {
			await Promise.all([...opened.values()].map((connection) => connection.close()));
			return null;
		},
	};
}

async function prepare(connection: Connection): Promise<void> {
	// Connects first, because an unreachable server then gets a clear message; the message of a failed migration refers to the start.
	await connection.run((db) => sql`SELECT 1`.execute(db));
	await migrate(connection, [postgresLedgerSchema]);
}

const insufficientPrivilege = '42501';

/** Grants privileges again after a denial: privileges granted while a day was created do not apply to that day yet. */
function shareDaysWhenDenied<Result>(statements: (db: Database) => Promise<Result>): (db: Database) => Promise<Result> {
	return async (db) => {
		try {
			return await statements(db);
		} catch (cause) {
			if (!(cause instanceof Error && 'code' in cause) || cause.code !== insufficientPrivilege) throw cause;
			await shareDays(db).catch(() => {
				throw cause;
			});
			return statements(db);
		}
	};
}

async function within<Result>(deadlineMs: number, work: Promise<Result>): Promise<Result> {
	const { promise, reject } = Promise.withResolvers<never>();
	const timer = clock.after(deadlineMs, () => reject(new Error(`No response within ${deadlineMs} ms`)));
	try {
		return await Promise.race([work, promise]);
	} finally {
		timer.cancel();
	}
}

serveWorkerOperations(postgresLedgerOperations());
