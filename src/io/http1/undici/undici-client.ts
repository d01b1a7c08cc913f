/** The way out over undici: through proxies, and in place of the native client where the configuration says so. */
import type { UpstreamRequest } from '../../../core/upstream.ts';
import { DeadlineSweep } from '../../deadline-sweep.ts';
import { PoolCache } from '../client/pool-cache.ts';
import { UpstreamCall } from '../client/upstream-call.ts';
import { sweepMs, type UpstreamClient, type UpstreamClientOptions } from '../client/upstream-client.ts';
import { UndiciPool } from './undici-pool.ts';

export function createUndiciClient(options: UpstreamClientOptions): UpstreamClient {
	const { clock, log, lookup, ca, isAllowedAddress, maxConnectionsPerOrigin: maxConnections } = options;
	const parts = { clock, log, deadlines: new DeadlineSweep(clock, sweepMs) };
	const pools = new PoolCache<UndiciPool>();
	const poolFor = ({ origin, proxy, mayReachPrivateNetwork }: UpstreamRequest): UndiciPool => {
		const key = JSON.stringify([origin, mayReachPrivateNetwork, proxy?.origin, proxy?.authorization]);
		const isAllowed = mayReachPrivateNetwork ? undefined : isAllowedAddress;
		return pools.of(key, () => new UndiciPool({ origin, proxy, maxConnections, clock, lookup, ca, isAllowedAddress: isAllowed }));
	};
	return {
		send: (request) =>
			new Promise((resolve, reject) => {
				new UpstreamCall(parts, request, resolve, reject).enter(poolFor(request));
			}),
		close() {
			pools.destroy();
		},
	};
}
