/**
 * HTTP client for upstream requests: one pool of keep-alive HTTP/1.1 connections per origin and address allowance (decision 0017). Bytes
 * pass unchanged: no decompression, no redirects, no retries of a sent request.
 *
 * A server may close an idle connection while a request is written to it. The client cannot know whether the server read the request, so
 * the request fails with `provider_unreachable` and is not repeated. To make that rare, a connection stays idle for at most 4 s, or 2 s
 * less than the server's `keep-alive` header allows. If the connection proves closed before any byte of the request was sent, the request
 * moves to a fresh connection, once.
 */
import type { LookupFunction } from 'node:net';
import type { Clock } from '../../../core/clock.ts';
import type { Log } from '../../../core/log.ts';
import type { Upstream, UpstreamProxy, UpstreamRequest } from '../../../core/upstream.ts';
import { DeadlineSweep } from '../../deadline-sweep.ts';
import { type ConnectorOptions, createConnector } from './upstream-connector.ts';
import { UpstreamExchange } from './upstream-exchange.ts';
import { type ExchangePool, UpstreamPool } from './upstream-pool.ts';

export interface UpstreamClientOptions {
	readonly clock: Clock;
	readonly log: Log;
	/** Beyond this, requests wait within their connect timeout. */
	readonly maxConnectionsPerOrigin: number;
	/** Returns true for addresses that a request without `canReachPrivateNetwork` may connect to. */
	readonly isAllowedAddress: (address: string) => boolean;
	/** Name resolution; by default the system's. */
	readonly lookup?: LookupFunction;
	/** PEM of certificate authorities to trust in place of the default ones. */
	readonly ca?: string;
}

export interface UpstreamClient {
	readonly send: Upstream;
	/** Closes every connection; in-flight requests fail with `provider_unreachable` or `provider_disconnected`. */
	close(): void;
}

/** Precision of time limits. */
const sweepMs = 20;

/** More than any configuration uses; beyond it, the oldest pool is retired. */
const maxPools = 64;

/** Connections to one destination. */
export interface Pool extends ExchangePool {
	/** Accepts no further requests; in-flight requests continue. */
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

/** @param createPool called for a destination without a pool. */
export function createPooledClient(options: UpstreamClientOptions, createPool: (options: PoolOptions) => Pool): UpstreamClient {
	const { clock, log, lookup, ca, isAllowedAddress, maxConnectionsPerOrigin: maxConnections } = options;
	const deadlines = new DeadlineSweep(clock, sweepMs);
	const deps = { clock, log, deadlines };
	const [publicPools, privatePools] = [new Map<string, Pool>(), new Map<string, Pool>()];
	const poolFor = ({ origin, proxy, canReachPrivateNetwork }: UpstreamRequest): Pool => {
		const pools = canReachPrivateNetwork ? privatePools : publicPools;
		const key = proxy === undefined ? origin : `${origin} ${proxy.origin} ${proxy.authorization}`;
		let pool = pools.get(key);
		if (pool === undefined) {
			const isAllowed = canReachPrivateNetwork ? undefined : isAllowedAddress;
			pool = createPool({ origin, proxy, maxConnections, clock, deadlines, lookup, ca, isAllowedAddress: isAllowed });
			retireOldest(pools);
			pools.set(key, pool);
		}
		return pool;
	};
	return {
		send: (request) =>
			new Promise((resolve, reject) => {
				new UpstreamExchange(deps, request, resolve, reject).enter(poolFor(request));
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
