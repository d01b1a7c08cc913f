/** Source counts in Redis or Valkey: one hash for each source, with a field for each slice of the window by the server's clock. */
import type { Log } from '../../core/log.ts';
import type { SourceCounts } from '../contracts/source-counts.ts';
import { RedisConnection, type RedisSettings } from './redis-connection.ts';
import { compileScript, readLua } from './script.ts';

/** As in the counts of a single process: the current slice is one more than the window has. */
const slicesPerWindow = 30;
const retainedSlices = slicesPerWindow + 1;

const addToSource = compileScript(`local retainedSlices = ${retainedSlices}\n${readLua('add-to-source')}`);

/**
 * Does not wait for the server: until there is a connection, operations fail at once. @throws StoreUnusable when the URL is not a Redis
 * URL.
 */
export function openRedisSourceCounts(
	{ prefix = 'tollgate', ...server }: RedisSettings & { readonly prefix?: string },
	log: Log,
): SourceCounts {
	const connection = new RedisConnection({ ...server, scripts: [addToSource] }, log);
	return {
		add: (counts, windowSeconds) => {
			const sliceMs = Math.ceil((windowSeconds * 1000) / slicesPerWindow);
			// One script for each source, sent in one write: in a cluster each may be on another server.
			return Promise.all(
				counts.map(async ({ source, requests }) => {
					const total = await connection.evaluate(addToSource, [`${prefix}:source:${windowSeconds}:${source}`], [requests, sliceMs]);
					return Number(total);
				}),
			);
		},
		close: () => connection.close(),
	};
}
