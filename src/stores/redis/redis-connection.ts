import { Redis, type RedisOptions } from 'ioredis';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { uncorkAtTurnEnd } from '../../core/turn-end.ts';
import { withoutBrackets } from '../../core/url-host.ts';
import { CountersUnreachable } from '../contracts/admission.ts';
import { StoreUnusable } from '../contracts/store-unusable.ts';
import type { Script } from './script.ts';

export interface RedisSettings {
	/** `redis://` or `rediss://` (TLS), with user, password and database number as usual. */
	readonly url: string;
}

export interface RedisConnectionOptions extends RedisSettings {
	/** That are evaluated here: the server is given them at once, so that the first calls need not send them. */
	readonly scripts: readonly Script[];
}

/** Between attempts to connect again. */
const reconnectMs = 200;

/** Silence for so long, with a command waiting, means that the other end is gone without a word. */
const silentMs = 5000;

/** The same for a connection that is to be closed. */
const silentAtCloseMs = 1000;

/**
 * A connection on which a command fails at once while there is none, and when the server has been silent for five seconds: whoever cannot
 * wait so long gives up earlier. Its errors name the server, and never a credential.
 */
export class RedisConnection {
	/** `redis://host:port`, for people. */
	readonly address: string;
	private readonly client: Redis;
	private readonly scripts: readonly Script[];
	private readonly listeners: (() => void)[] = [];
	private isGathering = false;
	private identity: string | undefined;
	private wasReady = false;
	private lastError: string | undefined;

	/** @throws StoreUnusable when the URL is none of Redis. */
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
			// A primary that has become a replica: the name may lead to the new primary by now.
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

	/** Names one life of the server: another one may have lost what an earlier one knew. @throws CountersUnreachable while there is no connection. */
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

	/** Resolves when there is a connection, or after `withinMs` without one. */
	firstReady(withinMs: number, clock: Clock): Promise<boolean> {
		return new Promise((resolve) => {
			const timer = clock.after(withinMs, () => resolve(false));
			this.onReady(() => {
				timer.cancel();
				resolve(true);
			});
		});
	}

	/** Each time that there is a connection. */
	onReady(listener: () => void): void {
		this.listeners.push(listener);
	}

	/** Whether there was a connection before the present one. */
	get isReturn(): boolean {
		return this.wasReady;
	}

	async close(): Promise<void> {
		this.listeners.length = 0;
		const { stream }: { readonly stream?: Redis['stream'] } = this.client;
		stream?.setTimeout(silentAtCloseMs, () => stream.destroy());
		// Answers to what was sent come before the answer to this.
		await this.client.quit().catch(() => undefined);
		this.client.disconnect();
	}

	/**
	 * What is sent in one turn of the event loop leaves in one piece, for a system call costs as much as the rest of a command; and after
	 * the ledger's journal has what was written to it before.
	 */
	private gather(): void {
		if (this.isGathering || !this.isConnected) return;
		const { stream } = this.client;
		this.isGathering = true;
		stream.cork();
		uncorkAtTurnEnd({
			uncork: () => {
				this.isGathering = false;
				stream.uncork();
			},
		});
	}

	private async identify(): Promise<void> {
		try {
			// Who may not leave scripts with the server sends them when they are asked for.
			for (const { lua } of this.scripts) void this.client.script('LOAD', lua).catch(() => undefined);
			const info = await this.client.info('server');
			this.identity = /^run_id:(\S+)/m.exec(info)?.[1] ?? 'unnamed';
		} catch (cause) {
			// Some servers keep INFO to themselves: then only an emptied store is noticed, not a replaced one.
			if (!(cause instanceof Error && /^(NOPERM|ERR)/.test(cause.message))) return this.client.disconnect(true);
			this.identity = 'unnamed';
		}
		this.lastError = undefined;
		for (const listener of this.listeners) listener();
		this.wasReady = true;
	}

	/** The driver's own errors carry their command, and with it everything that was sent. */
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
		// The reason would show the URL, and the password in it.
		throw new StoreUnusable(
			'The Redis URL (`stores.counters`) is invalid: write redis://host:port or rediss://user:password@host:port/database, with special characters in user and password percent-encoded',
		);
	}
}

function isScriptUnknown(cause: unknown): boolean {
	return cause instanceof Error && cause.message.startsWith('NOSCRIPT');
}
