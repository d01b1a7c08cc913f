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
import type { Upstream, UpstreamProxy, UpstreamRequest } from '../../../core/upstream.ts';
import { DeadlineSweep } from '../../deadline-sweep.ts';
import { UpstreamCall } from './upstream-call.ts';
import { type ConnectorOptions, createConnector } from './upstream-connector.ts';
import { type CallPool, UpstreamPool } from './upstream-pool.ts';

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
const sweepMs = 20;

/** More than any configuration names; the oldest pool gives way. */
const maxPools = 64;

/** The connections to one destination. */
export interface Pool extends CallPool {
	/** Takes no further requests; those it has go on. */
	retire(): void;
	destroy(cause: Error): void;
}

export interface PoolOptions extends ConnectorOptions {
	readonly origin: string;
	readonly proxy: UpstreamProxy | undefined;
	readonly maxConnections: number;
	readonly deadlines: DeadlineSweep;
}

export function createUpstreamClient(options: UpstreamClientOptions): UpstreamClient {
	return createPooledClient(options, (pool) => new UpstreamPool({ ...pool, connect: createConnector(pool.origin, pool) }));
}

/** @param createPool called where there is none for the destination. */
export function createPooledClient(options: UpstreamClientOptions, createPool: (options: PoolOptions) => Pool): UpstreamClient {
	const { clock, log, lookup, ca, isAllowedAddress, maxConnectionsPerOrigin: maxConnections } = options;
	const deadlines = new DeadlineSweep(clock, sweepMs);
	const parts = { clock, log, deadlines };
	const [publicPools, privatePools] = [new Map<string, Pool>(), new Map<string, Pool>()];
	const poolFor = ({ origin, proxy, mayReachPrivateNetwork }: UpstreamRequest): Pool => {
		const pools = mayReachPrivateNetwork ? privatePools : publicPools;
		const key = proxy === undefined ? origin : `${origin} ${proxy.origin} ${proxy.authorization}`;
		let pool = pools.get(key);
		if (pool === undefined) {
			const isAllowed = mayReachPrivateNetwork ? undefined : isAllowedAddress;
			pool = createPool({ origin, proxy, maxConnections, clock, deadlines, lookup, ca, isAllowedAddress: isAllowed });
			retireOldest(pools);
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
			const pools = [...publicPools.values(), ...privatePools.values()];
			publicPools.clear();
			privatePools.clear();
			for (const pool of pools) pool.destroy(new Error('The process is shutting down'));
		},
	};
}

function retireOldest(pools: Map<string, Pool>): void {
	const [oldest] = pools;
	if (oldest === undefined || pools.size < maxPools) return;
	pools.delete(oldest[0]);
	oldest[1].retire();
}
