/**
 * The way out: one pool of keep-alive HTTP/1.1 connections per origin and address allowance (decision 0017). Bytes pass as they are,
 * nothing is decompressed, redirected or sent twice.
 *
 * A server may close a resting connection at the moment a request is written to it. Whether it read the request cannot
 * be known, so the call fails with `provider_unreachable` instead of being repeated; to make that rare, a connection
 * rests 4 s at most, or 2 s less than the server's `keep-alive` header says. A connection that proves to be closed before any
 * of the request has left is as good as none: the call goes on to a fresh one, once.
 */
import type { LookupFunction } from 'node:net';
import type { Clock } from '../../../core/clock.ts';
import type { Log } from '../../../core/log.ts';
import type { Upstream, UpstreamRequest } from '../../../core/upstream.ts';
import { DeadlineSweep } from '../../deadline-sweep.ts';
import { PoolCache } from './pool-cache.ts';
import { UpstreamCall } from './upstream-call.ts';
import { createConnector } from './upstream-connector.ts';
import { UpstreamPool } from './upstream-pool.ts';

export interface UpstreamClientOptions {
	readonly clock: Clock;
	readonly log: Log;
	/** Beyond it requests wait, as long as they may wait for a connection. */
	readonly maxConnectionsPerOrigin: number;
	/** True for addresses that a request without `mayReachPrivateNetwork` may connect to. */
	readonly isAllowedAddress: (address: string) => boolean;
	/** Name resolution; the system's unless given. */
	readonly lookup?: LookupFunction;
	/** PEM of certificate authorities to trust in place of the usual ones. */
	readonly ca?: string;
}

export interface UpstreamClient {
	readonly send: Upstream;
	/** Ends every connection; what is in flight fails with `provider_unreachable` or `provider_disconnected`. */
	close(): void;
}

/** The precision of time limits. */
export const sweepMs = 20;

export function createUpstreamClient(options: UpstreamClientOptions): UpstreamClient {
	const { clock, log } = options;
	const deadlines = new DeadlineSweep(clock, sweepMs);
	const parts = { clock, log, deadlines };
	const publicPools = new PoolCache<UpstreamPool>();
	const privatePools = new PoolCache<UpstreamPool>();
	const poolFor = ({ origin, mayReachPrivateNetwork }: UpstreamRequest): UpstreamPool =>
		(mayReachPrivateNetwork ? privatePools : publicPools).of(origin, () => {
			const { maxConnectionsPerOrigin: maxConnections, isAllowedAddress, lookup, ca } = options;
			const isAllowed = mayReachPrivateNetwork ? undefined : isAllowedAddress;
			const connect = createConnector(origin, { clock, lookup, ca, isAllowedAddress: isAllowed });
			return new UpstreamPool({ clock, deadlines, maxConnections, connect });
		});
	return {
		send: (request) =>
			new Promise((resolve, reject) => {
				new UpstreamCall(parts, request, resolve, reject).enter(poolFor(request));
			}),
		close() {
			publicPools.destroy();
			privatePools.destroy();
		},
	};
}
