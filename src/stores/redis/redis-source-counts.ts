/** Sources in Redis, or Valkey: a hash each, with a field for each slice of the window by the server's clock. */
import { createHash } from 'node:crypto';
import type { Log } from '../../core/log.ts';
import type { SourceCounts } from '../contracts/source-counts.ts';
import type { Script } from './admission-scripts.ts';
import { RedisConnection, type RedisSettings } from './redis-connection.ts';

/** As processes count for themselves: the slice that lasts is one more than the window holds. */
const slicesPerWindow = 30;
const slicesKept = slicesPerWindow + 1;

/** KEYS: the source. ARGV: requests to add, milliseconds of a slice. */
const addToSource = script(`
local time = redis.call('TIME')
local slice = math.floor((time[1] * 1000 + math.floor(time[2] / 1000)) / tonumber(ARGV[2]))
if tonumber(ARGV[1]) > 0 then
	redis.call('HINCRBY', KEYS[1], slice, ARGV[1])
	redis.call('PEXPIRE', KEYS[1], tonumber(ARGV[2]) * ${slicesKept})
end
local total = 0
local fields = redis.call('HGETALL', KEYS[1])
for index = 1, #fields, 2 do
	if tonumber(fields[index]) <= slice - ${slicesKept} then redis.call('HDEL', KEYS[1], fields[index])
	else total = total + tonumber(fields[index + 1]) end
end
return total`);

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

function script(lua: string): Script {
	return { lua, sha1: createHash('sha1').update(lua).digest('hex') };
}
