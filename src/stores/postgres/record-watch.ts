/**
 * Notifies listeners of changes: those of this process at once, those of other processes on the server's notification. The newest version
 * is also polled twice a second, which finds changes that were missed without a connection, and detects a dead connection.
 */
import type { Client } from 'pg';
import type { Clock, Timer } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { PostgresConnection } from './postgres-connection.ts';
import { changesChannel, readVersion } from './records-database.ts';
import type { RecordTables } from './records-schema.ts';

const pollMs = 500;
const maxReconnectMs = 8_000;

export interface RecordWatchDeps {
	readonly clock: Clock;
	readonly log: Log;
}

export class RecordWatch {
	readonly #connection: PostgresConnection<RecordTables>;
	readonly #clock: Clock;
	readonly #log: Log;
	readonly #listeners = new Set<() => void>();
	#seenVersion: number;
	#client: Client | undefined;
	#reconnectMs = pollMs;
	#reconnectAtMs = 0;
	#timer: Timer | undefined;
	#isPolling = false;
	#isBlind = false;
	#owesNews = false;
	#isClosed = false;

	/** @param seenVersion version that listeners already know. */
	constructor(connection: PostgresConnection<RecordTables>, seenVersion: number, { clock, log }: RecordWatchDeps) {
		this.#connection = connection;
		this.#seenVersion = seenVersion;
		this.#clock = clock;
		this.#log = log;
	}

	onChange(listener: () => void): () => void {
		const registered = (): void => listener();
		this.#listeners.add(registered);
		if (!this.#isPolling) {
			this.#isPolling = true;
			void this.#look();
		}
		return () => void this.#listeners.delete(registered);
	}

	/** Notes that a reader now sees `version` and every change before it. */
	learn(version: number): void {
		if (!(version > this.#seenVersion)) return;
		this.#seenVersion = version;
		this.#announce();
	}

	/** Notifies listeners as soon as the server responds, because their own read may have failed. */
	owe(): void {
		this.#owesNews = true;
	}

	close(): void {
		this.#isClosed = true;
		this.#timer?.cancel();
		this.#listeners.clear();
		this.#drop(this.#client);
	}

	/** Notifies the listeners; there are none after `close`. */
	#announce(): void {
		for (const listener of [...this.#listeners]) listener();
	}

	async #look(): Promise<void> {
		try {
			if (this.#client === undefined && this.#clock.monotonicMs() >= this.#reconnectAtMs) await this.#listen();
			await this.#compareVersion();
			if (this.#isBlind) this.#log.info('records are watched for changes again');
			this.#isBlind = false;
		} catch (cause) {
			this.#drop(this.#client);
			if (!this.#isBlind && !this.#isClosed) {
				this.#log.warn('record changes cannot be watched', { cause: this.#connection.describe(cause).message });
			}
			this.#isBlind = true;
			this.#owesNews = true;
		}
		if (!this.#isClosed) this.#timer = this.#clock.after(pollMs, () => void this.#look());
	}

	async #listen(): Promise<void> {
		const client = this.#connection.newClient({ query_timeout: this.#connection.deadlineMs });
		client.on('error', () => this.#drop(client));
		client.on('end', () => this.#drop(client));
		client.on('notification', ({ payload }) => this.learn(Number(payload)));
		try {
			await client.connect();
			await client.query(`LISTEN ${changesChannel}`);
			this.#reconnectMs = pollMs;
		} catch (cause) {
			void client.end();
			this.#reconnectAtMs = this.#clock.monotonicMs() + this.#reconnectMs;
			this.#reconnectMs = Math.min(2 * this.#reconnectMs, maxReconnectMs);
			this.#log.debug('PostgreSQL notifications are unavailable', { cause: this.#connection.describe(cause).message });
			return;
		}
		if (this.#isClosed) void client.end();
		else this.#client = client;
	}

	/** Uses the listening connection, or the pool if the server grants none. */
	async #compareVersion(): Promise<void> {
		const knownVersion = this.#seenVersion;
		const version = await (this.#client === undefined
			? this.#connection.run((db) => readVersion(db.withSchema('tollgate')))
			: queryVersion(this.#client));
		// A lower version means another history: the server was restored from a backup, or a standby has been promoted.
		const isNews = version > this.#seenVersion || version < knownVersion;
		if (isNews) this.#seenVersion = version;
		if (!isNews && !this.#owesNews) return;
		this.#owesNews = false;
		this.#announce();
	}

	#drop(client: Client | undefined): void {
		if (client === undefined) return;
		if (this.#client === client) this.#client = undefined;
		void client.end();
	}
}

async function queryVersion(client: Client): Promise<number> {
	const { rows } = await client.query<{ last: bigint }>('SELECT last FROM tollgate.record_versions');
	return Number(rows[0]?.last);
}
