/** The way out over undici: through proxies, and in place of the native client where the configuration says so. */
import type { UpstreamRequest } from '../../../core/upstream.ts';
import { DeadlineSweep } from '../../deadline-sweep.ts';
import { UpstreamCall } from '../client/upstream-call.ts';
import { evictOldest, sweepMs, type UpstreamClient, type UpstreamClientOptions } from '../client/upstream-client.ts';
import { UndiciPool } from './undici-pool.ts';

export function createUndiciClient(options: UpstreamClientOptions): UpstreamClient {
	const { clock, log, lookup, ca, isAllowedAddress, maxConnectionsPerOrigin: maxConnections } = options;
	const parts = { clock, log, deadlines: new DeadlineSweep(clock, sweepMs) };
	const pools = new Map<string, UndiciPool>();
	const poolFor = ({ origin, proxy, mayReachPrivateNetwork }: UpstreamRequest): UndiciPool => {
		const key = JSON.stringify([origin, mayReachPrivateNetwork, proxy?.origin, proxy?.authorization]);
		let pool = pools.get(key);
		if (pool === undefined) {
			const isAllowed = mayReachPrivateNetwork ? undefined : isAllowedAddress;
			pool = new UndiciPool({ origin, proxy, maxConnections, clock, lookup, ca, isAllowedAddress: isAllowed });
			evictOldest(pools);
			pools.set(key, pool);
		}
		return pool;
	};
	return {
		send: (request) =>
			new Promise((resolve, reject) => {
				new UpstreamCall(parts, request, resolve, reject).enter(poolFor(request));
			}),
		close() {
			for (const pool of pools.values()) pool.destroy(new Error('The process is stopping'));
			pools.clear();
		},
	};
}
