/** Upstream client over undici: for proxies, and in place of the native client if so configured. */
import { createPooledClient, type UpstreamClient, type UpstreamClientOptions } from '../client/upstream-client.ts';
import { UndiciPool } from './undici-pool.ts';

export function createUndiciClient(options: UpstreamClientOptions): UpstreamClient {
	return createPooledClient(options, (pool) => new UndiciPool(pool));
}
