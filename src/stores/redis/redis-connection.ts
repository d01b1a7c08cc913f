import { Redis, type RedisOptions } from 'ioredis';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { uncorkOnTickFlush } from '../../core/tick-flush.ts';
import { withoutBrackets } from '../../core/url-host.ts';
import { CountersUnreachable } from '../contracts/admission.ts';
import { StoreUnusable } from '../contracts/store-unusable.ts';
import type { Script } from './script.ts';

export interface RedisSettings {
	/** `redis://` or `rediss://` (TLS), with user, password and database number as usual. */
	readonly url: string;
}

export interface RedisConnectionOptions extends RedisSettings {
	/** Scripts of this connection: they are loaded into the server at once, so that the first requests need not send them. */
	readonly scripts: readonly Script[];
}

/** Time between attempts to reconnect. */
const reconnectMs = 200;

/** Silence of this length while a command waits means that the connection is dead. */
const silentMs = 5000;

/** Like `silentMs`, for a connection that is being closed. */
const silentAtCloseMs = 1000;

/**
 * A connection whose commands fail at once while it is not established, and when the server has been silent for five seconds. Callers with
 * shorter deadlines time out earlier. Its errors name the server, never a credential.
 */
export class RedisConnection {
	/** `redis://host:port`, for display. */
	readonly address: string;
	private readonly client: Redis;
	private readonly scripts: readonly Script[];
	private readonly listeners: (() => void)[] = [];
	private isGathering = false;
	private identity: string | undefined;
	private wasReady = false;
	private lastError: string | undefined;

	/** @throws StoreUnusable when the URL is not a Redis URL. */
	constructor({ url, scripts }: RedisConnectionOptions, log: Log) {
		this.scripts = scripts;
		const { address, ...server } = readUrl(url);
		this.address = address;
		this.client = new Redis({
			...server,
			protocol: 2,
			connectTimeout: 2000,
			socketTimeout: silentMs,
			maxRetriesPerRequest: 0,
			enableOfflineQueue: false,
			autoResendUnfulfilledCommands: false,
			retryStrategy: () => reconnectMs,
			// Reconnects when a primary has become a replica: the name may lead to the new primary by now.
			reconnectOnError: ({ message }) => message.startsWith('READONLY'),
		});
		this.client.on('error', (cause: Error) => {
			if (cause.message === this.lastError) return;
			this.lastError = cause.message;
			log.debug('redis connection failed', { address: this.address, cause: cause.message });
		});
		this.client.on('close', () => (this.identity = undefined));
		this.client.on('ready', () => void this.identify());
	}

	/**
	 * Id of the server's current run: another run may have lost the data of an earlier one. @throws CountersUnreachable while there is no
	 * connection.
	 */
	get run(): string {
		if (this.identity === undefined) throw new CountersUnreachable(`${this.address} is not connected`);
		return this.identity;
	}

	get isConnected(): boolean {
		return this.identity !== undefined;
	}

	async evaluate({ lua, sha1 }: Script, keys: readonly string[], values: readonly (string | number)[]): Promise<unknown> {
		this.gather();
		try {
			return await this.client.evalsha(sha1, keys.length, ...keys, ...values);
		} catch (cause) {
			if (!isScriptUnknown(cause)) throw this.describe(cause);
		}
		try {
			return await this.client.eval(lua, keys.length, ...keys, ...values);
		} catch (cause) {
			throw this.describe(cause);
		}
	}

	/** Resolves with true once there is a connection, or with false after `withinMs` without one. */
	firstReady(withinMs: number, clock: Clock): Promise<boolean> {
		return new Promise((resolve) => {
			const timer = clock.after(withinMs, () => resolve(false));
			this.onReady(() => {
				timer.cancel();
				resolve(true);
			});
		});
	}

	/** Runs `listener` each time a connection is established. */
	onReady(listener: () => void): void {
		this.listeners.push(listener);
	}

	/** True if there was a connection before the present one. */
	get isReturn(): boolean {
		return this.wasReady;
	}

	async close(): Promise<void> {
		this.listeners.length = 0;
		const { stream }: { readonly stream?: Redis['stream'] } = this.client;
		stream?.setTimeout(silentAtCloseMs, () => stream.destroy());
		// Responses to earlier commands arrive before the response to this one.
		await this.client.quit().catch(() => undefined);
		this.client.disconnect();
	}

	/**
	 * Sends the commands of one turn of the event loop in one write: a system call costs as much as the rest of a command. The write happens
	 * after the ledger's journal has been written.
	 */
	private gather(): void {
		if (this.isGathering || !this.isConnected) return;
		const { stream } = this.client;
		this.isGathering = true;
		stream.cork();
		uncorkOnTickFlush({
			uncork: () => {
				this.isGathering = false;
				stream.uncork();
			},
		});
	}

	private async identify(): Promise<void> {
		try {
			// A user who may not load scripts sends each script when it is used.
			for (const { lua } of this.scripts) void this.client.script('LOAD', lua).catch(() => undefined);
			const info = await this.client.info('server');
			this.identity = /^run_id:(\S+)/m.exec(info)?.[1] ?? 'unnamed';
		} catch (cause) {
			// Some servers forbid INFO: then only an emptied server is detected, not a replaced one.
			if (!(cause instanceof Error && /^(NOPERM|ERR)/.test(cause.message))) return this.client.disconnect(true);
			this.identity = 'unnamed';
		}
		this.lastError = undefined;
		for (const listener of this.listeners) listener();
		this.wasReady = true;
	}

	/** Returns no details of the driver's errors, because these contain the command with all of its arguments. */
	private describe(cause: unknown): CountersUnreachable {
		return new CountersUnreachable(`${this.address}: ${cause instanceof Error ? cause.message : String(cause)}`);
	}
}

type ServerOptions = Pick<RedisOptions, 'host' | 'port' | 'username' | 'password' | 'tls' | 'db'>;

function readUrl(url: string): ServerOptions & { address: string } {
	try {
		const { protocol, hostname, port, username, password, pathname } = new URL(url);
		const db = pathname.length > 1 ? Number(pathname.slice(1)) : 0;
		if (!/^rediss?:$/.test(protocol) || hostname === '' || !Number.isInteger(db)) throw new TypeError('not of Redis');
		return {
			address: `${protocol}//${hostname}:${port || 6379}`,
			host: withoutBrackets(hostname),
			port: Number(port || 6379),
			db,
			...(username === '' ? {} : { username: decodeURIComponent(username) }),
			...(password === '' ? {} : { password: decodeURIComponent(password) }),
			...(protocol === 'rediss:' ? { tls: {} } : {}),
		};
	} catch {
		// The message would contain the URL with its password.
		throw new StoreUnusable(
			'The Redis URL (`stores.counters`) is invalid: write redis://host:port or rediss://user:password@host:port/database, with special characters in user and password percent-encoded',
		);
	}
}

function isScriptUnknown(cause: unknown): boolean {
	return cause instanceof Error && cause.message.startsWith('NOSCRIPT');
}
