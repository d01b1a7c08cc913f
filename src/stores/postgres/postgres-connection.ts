/** Connections to one PostgreSQL server, with limits on number and time, and without credentials in messages. */
import { Socket } from 'node:net';
import { Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import { Client, type ClientConfig, Pool, TypeOverrides, types } from 'pg';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { StoreUnusable } from '../contracts/store-unusable.ts';
import { listOf, textFrom } from '../decode.ts';
import { createPostgresDriver } from './postgres-driver.ts';
import { fromPostgresText } from './postgres-text.ts';

export interface PostgresSettings {
	/** `postgres://user:password@host:port/database`, with the parameters of the driver, such as `sslmode`. */
	readonly url: string;
	/** Maximum number of connections, default 5; those of `newClient` are not included. */
	readonly poolSize?: number;
	/** Deadline for all work on a pooled connection, including the wait for one. Default 5,000. */
	readonly deadlineMs?: number;
}

export interface PostgresDeps {
	readonly clock: Clock;
	readonly log: Log;
}

/** The message names the server and the problem, never a credential or a record. */
export class PostgresFailed extends Error {
	override readonly name = 'PostgresFailed';
	/** True if the server is unavailable, starting or stopping: the same statement may succeed later. */
	readonly canPass: boolean;

	constructor(message: string, canPass: boolean) {
		super(message);
		this.canPass = canPass;
	}
}

export interface PostgresConnection<Tables> {
	/** `postgres://host:port/database`, for display. */
	readonly address: string;
	readonly deadlineMs: number;
	/**
	 * Runs statements on the pool. `bigint` columns are read as bigints; texts may contain U+0000.
	 * @throws PostgresFailed
	 */
	run<Result>(statements: (db: Kysely<Tables>) => Promise<Result>): Promise<Result>;
	/** Returns a separate connection, which the caller connects and ends. Its statements have no time limit except `query_timeout`. */
	newClient(limits?: Pick<ClientConfig, 'query_timeout'>): Client;
	/** Describes an error in loggable words. */
	describe(cause: unknown): PostgresFailed;
	/** Waits for running statements, at most a second. */
	close(): Promise<void>;
}

/** Does not connect yet. @throws StoreUnusable when the URL is not a PostgreSQL URL. */
export function openPostgres<Tables>(settings: PostgresSettings, { clock, log }: PostgresDeps): PostgresConnection<Tables> {
	const { url, poolSize = 5, deadlineMs = 5_000 } = settings;
	const address = addressOf(url);
	const sockets = new Set<Socket>();
	const shared: ClientConfig = {
		connectionString: url,
		connectionTimeoutMillis: deadlineMs,
		keepAlive: true,
		fallback_application_name: 'tollgate',
		types: columnTypes,
		stream() {
			const socket = new Socket();
			sockets.add(socket);
			return socket.once('close', () => sockets.delete(socket));
		},
	};
	const pool = new Pool({
		...shared,
		max: poolSize,
		statement_timeout: deadlineMs,
		// A process that hangs in the middle of a change must not block the changes of others.
		idle_in_transaction_session_timeout: deadlineMs,
	});
	const describe = (cause: unknown): PostgresFailed =>
		cause instanceof PostgresFailed ? cause : new PostgresFailed(`${address}: ${reasonOf(cause)}`, isPassing(cause));
	pool.on('error', (cause) => log.debug('an idle PostgreSQL connection was lost', { cause: describe(cause).message }));
	const db = new Kysely<Tables>({
		dialect: {
			createDriver: () => createPostgresDriver(pool, { clock, deadlineMs }),
			createQueryCompiler: () => new PostgresQueryCompiler(),
			createAdapter: () => new PostgresAdapter(),
			createIntrospector: (introspected) => new PostgresIntrospector(introspected),
		},
	});
	return {
		address,
		deadlineMs,
		describe,
		async run(statements) {
			try {
				return await statements(db);
			} catch (cause) {
				throw describe(cause);
			}
		},
		newClient: (limits = {}) => new Client({ ...shared, ...limits }),
		async close() {
			if (pool.ending) return;
			await Promise.race([pool.end(), new Promise<void>((resolve) => clock.after(1_000, resolve))]);
			for (const socket of sockets) socket.destroySoon();
		},
	};
}

const columnTypes = new TypeOverrides();
columnTypes.setTypeParser(types.builtins.INT8, BigInt);
columnTypes.setTypeParser(types.builtins.TEXT, fromPostgresText);
const textArray = 1009;
const parseTexts: unknown = columnTypes.getTypeParser(textArray);
if (typeof parseTexts !== 'function') throw new TypeError('The driver has no parser of text arrays');
// The driver's types declare numbers as the parsers' result.
columnTypes.setTypeParser(textArray, (literal) => listOf(textFrom)(Reflect.apply(parseTexts, undefined, [literal])).map(fromPostgresText));

/**
 * Displayable part of a URL. Nothing is shown if a stray `/`, `?` or `#` of an unencoded password would be parsed as the end of the host.
 */
const urlPattern = /^postgres(?:ql)?:\/\/(?:[^/?#]*@)?[^/?#@]*(?:\/[^?#@]*)?(?:\?[^#@]*)?$/;

function addressOf(url: string): string {
	if (urlPattern.test(url)) {
		try {
			const { host, port, database } = new Client(url);
			return `postgres://${host}:${port}/${database ?? ''}`;
		} catch (cause) {
			// Other messages would contain the URL with its password.
			if (cause instanceof Error && 'syscall' in cause) {
				throw new StoreUnusable(`A file named in the PostgreSQL URL (\`stores.records\`) cannot be read: ${cause.message}`);
			}
		}
	}
	throw new StoreUnusable(
		'The PostgreSQL URL (`stores.records`) is invalid: write postgres://user:password@host:port/database, with special characters in user and password percent-encoded',
	);
}

/** Connection exceptions, a server that starts, stops or has no free connection, and one that is read-only after a failover. */
const passingStates = /^(08|53|57P0|25006)/;
/** Messages of the driver, and of the deadlines here. */
const passingReasons = /timeout|Connection terminated|^No answer/i;

function isPassing(cause: unknown): boolean {
	if (cause instanceof AggregateError) return cause.errors.some(isPassing);
	if (!(cause instanceof Error)) return false;
	if ('severity' in cause && 'code' in cause) return passingStates.test(String(cause.code));
	return 'syscall' in cause || passingReasons.test(cause.message);
}

/** Returns no details of the driver's errors, because these contain whole rows. */
function reasonOf(cause: unknown): string {
	if (cause instanceof AggregateError) return cause.errors.map(reasonOf).join(', ');
	if (!(cause instanceof Error)) return String(cause);
	return 'code' in cause && 'severity' in cause ? `${cause.message} (SQLSTATE ${String(cause.code)})` : cause.message;
}
