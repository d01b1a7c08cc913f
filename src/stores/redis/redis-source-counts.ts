/** Sources in Redis, or Valkey: a hash each, with a field for each slice of the window by the server's clock. */
import type { Log } from '../../core/log.ts';
import type { SourceCounts } from '../contracts/source-counts.ts';
import { RedisConnection, type RedisSettings } from './redis-connection.ts';
import { compileScript, readLua } from './script.ts';

/** As processes count for themselves: the slice that lasts is one more than the window holds. */
const slicesPerWindow = 30;
const slicesKept = slicesPerWindow + 1;

const addToSource = compileScript(`local slicesKept = ${slicesKept}\n${readLua('add-to-source')}`);

/** Does not wait for the server: until it is there, asking fails at once. @throws StoreUnusable when the URL is none of Redis. */
export function openRedisSourceCounts(
	{ prefix = 'tollgate', ...server }: RedisSettings & { readonly prefix?: string },
	log: Log,
): SourceCounts {
	const connection = new RedisConnection({ ...server, scripts: [addToSource] }, log);
	return {
		add: (counts, windowSeconds) => {
			const sliceMs = Math.ceil((windowSeconds * 1000) / slicesPerWindow);
			// One script a source, sent in one piece: in a cluster each may be at another server.
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
