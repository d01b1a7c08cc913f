/**
 * One Redis and one PostgreSQL for all test files of a run. The process of the test runner starts each of them when the first file needs
 * it, and stops them after the last. A test that stops, pauses or configures a server starts its own.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import { type PostgresServer, startPostgres } from './postgres-server.ts';
import { type RedisServer, startRedis } from './redis-server.ts';

declare module 'vitest' {
	interface ProvidedContext {
		/** URL at which tests request the run's servers. */
		sharedServers: string;
	}
}

const redisDatabases = 4096;

interface SharedServers {
	readonly url: string;
	/** Stops the servers when every project that set them up has ended. */
	leave(): Promise<void>;
	users: number;
}

/** State of the process, because each project of the test runner loads this module separately. */
const processState: typeof globalThis & { tollgateSharedServers?: Promise<SharedServers> } = globalThis;

/** Sets up a project, in the process of the test runner. @returns its teardown. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
	processState.tollgateSharedServers ??= openServers();
	const servers = await processState.tollgateSharedServers;
	servers.users++;
	project.provide('sharedServers', servers.url);
	return () => servers.leave();
}

async function openServers(): Promise<SharedServers> {
	let redis: Promise<RedisServer> | undefined;
	let postgres: Promise<PostgresServer> | undefined;
	let nextDatabase = 0;
	const httpResponse = async (path: string): Promise<object> => {
		if (path === '/redis') {
			redis ??= startRedis('--databases', String(redisDatabases));
			return { port: (await redis).port, database: nextDatabase++ % redisDatabases };
		}
		// Raised, because the default of 100 connections is too few for the products of parallel files.
		postgres ??= startPostgres('fsync=off', 'ssl=on', 'max_connections=400');
		return { url: await (await postgres).createDatabase() };
	};
	const server = createServer((request, response) => {
		void httpResponse(request.url ?? '').then(
			(found) => response.end(JSON.stringify(found)),
			(cause: unknown) => response.writeHead(500).end(String(cause)),
		);
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	const servers: SharedServers = {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		users: 0,
		async leave() {
			if (--servers.users > 0) return;
			delete processState.tollgateSharedServers;
			server.closeAllConnections();
			server.close();
			await Promise.all([redis?.then((started) => started.stop()), postgres?.then((started) => started.stop())]);
		},
	};
	return servers;
}
