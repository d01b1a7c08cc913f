/** kysely driver: lends a connection for a limited time, after which it is closed. */
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult, TransactionSettings } from 'kysely';
import { CompiledQuery as Compiled } from 'kysely';
import type { Pool, PoolClient, QueryResultRow } from 'pg';
import type { Clock, Timer } from '../../core/clock.ts';
import { toPostgresValue } from './postgres-text.ts';

/** From the request for a connection to its return. */
export interface LendingOptions {
	readonly clock: Clock;
	readonly deadlineMs: number;
}

export function createPostgresDriver(pool: Pool, { clock, deadlineMs }: LendingOptions): Driver {
	const lent = new WeakMap<DatabaseConnection, LentConnection>();
	return {
		async init() {},
		async acquireConnection() {
			const requestedAtMs = clock.monotonicMs();
			const client = await pool.connect();
			const connection = new LentConnection(client, clock, deadlineMs, deadlineMs - (clock.monotonicMs() - requestedAtMs));
			lent.set(connection, connection);
			return connection;
		},
		beginTransaction: (connection, settings) => run(connection, beginOf(settings)),
		async commitTransaction(connection) {
			await run(connection, 'commit');
		},
		rollbackTransaction: (connection) => run(connection, 'rollback'),
		async releaseConnection(connection) {
			lent.get(connection)?.giveBack();
		},
		destroy: () => pool.end(),
	};
}

async function run(connection: DatabaseConnection, statement: string): Promise<void> {
	await connection.executeQuery(Compiled.raw(statement));
}

function beginOf({ isolationLevel, accessMode }: TransactionSettings): string {
	return ['begin', isolationLevel && `isolation level ${isolationLevel}`, accessMode].filter(Boolean).join(' ');
}

class LentConnection implements DatabaseConnection {
	private readonly client: PoolClient;
	private readonly timer: Timer;
	private readonly deadlineMs: number;
	private isReleased = false;
	private isExpired = false;
	private isBroken = false;

	constructor(client: PoolClient, clock: Clock, deadlineMs: number, remainingMs: number) {
		this.client = client;
		this.deadlineMs = deadlineMs;
		// Errors reject the running query; without a listener they would end the process.
		client.on('error', this.onError);
		this.timer = clock.after(remainingMs, () => {
			this.isExpired = true;
			this.giveBack();
		});
	}

	async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
		try {
			const { command, rowCount, rows } = await this.client.query<Row & QueryResultRow>(sql, parameters.map(toPostgresValue));
			if (sql === 'commit' && command === 'ROLLBACK') throw new Error('The transaction was rolled back');
			return { rows, ...(rowCount !== null && { numAffectedRows: BigInt(rowCount) }) };
		} catch (cause) {
			if (this.isExpired) throw new Error(`No response within ${this.deadlineMs} ms`, { cause });
			if (isFatal(cause)) this.isBroken = true;
			throw cause;
		}
	}

	streamQuery(): never {
		throw new Error('Rows are not streamed');
	}

	giveBack(): void {
		if (this.isReleased) return;
		this.isReleased = true;
		this.timer.cancel();
		this.client.release(this.isExpired || this.isBroken);
		this.client.off('error', this.onError);
	}

	private readonly onError = (): void => {
		this.isBroken = true;
	};
}

/** Errors after which the server closes the connection. */
function isFatal(cause: unknown): boolean {
	return cause instanceof Error && 'severity' in cause && (cause.severity === 'FATAL' || cause.severity === 'PANIC');
}
