/** Part of the run's Redis and PostgreSQL that belongs to one test file (`shared-servers.ts`): no other file sees its data. */
import { inject } from 'vitest';
import { type PostgresServer, query, startPostgres } from './postgres-server.ts';
import { type RedisServer, sendCommands, startRedis } from './redis-server.ts';
import { requireProgram } from './system-programs.ts';

/** Database of the run's Redis. `FLUSHDB` empties it. */
export type RedisDatabase = Pick<RedisServer, 'port' | 'url' | 'command' | 'stop'>;

/** Acquires an empty database. Outside the projects of the test runner it starts a server. */
export async function shareRedis(): Promise<RedisDatabase> {
	requireProgram('redis-server');
	const address = inject('sharedServers') as string | undefined;
	if (address === undefined) return startRedis();
	const { port, database } = (await ask(`${address}/redis`)) as { port: number; database: number };
	const command = async (...words: string[]): Promise<string> => {
		const [, line = ''] = await sendCommands(port, [['SELECT', String(database)], words]);
		return line;
	};
	return {
		port,
		url: `redis://127.0.0.1:${port}/${database}`,
		command,
		stop: async () => void (await command('FLUSHDB')),
	};
}

/** PostgreSQL database; `url` is that of an empty one. */
export type PostgresDatabase = Pick<PostgresServer, 'url' | 'createDatabase' | 'stop'>;

/** Acquires an empty database of the run's PostgreSQL, and more on request. Outside the projects of the test runner it starts a server. */
export async function sharePostgres(): Promise<PostgresDatabase> {
	requireProgram('postgres');
	const address = inject('sharedServers') as string | undefined;
	if (address === undefined) return startPostgres('fsync=off', 'ssl=on');
	const taken: string[] = [];
	const createDatabase = async (): Promise<string> => {
		const { url } = (await ask(`${address}/postgres`)) as { url: string };
		taken.push(url);
		return url;
	};
	const url = await createDatabase();
	return {
		url,
		createDatabase,
		async stop() {
			const server = new URL(url);
			server.pathname = '/postgres';
			for (const each of taken) await query(server.href, `DROP DATABASE IF EXISTS ${new URL(each).pathname.slice(1)} WITH (FORCE)`);
		},
	};
}

async function ask(url: string): Promise<unknown> {
	const response = await fetch(url);
	const text = await response.text();
	if (!response.ok) throw new Error(text);
	return JSON.parse(text);
}
