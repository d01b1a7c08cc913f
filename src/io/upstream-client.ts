/**
 * The way out: one pool of keep-alive HTTP/1.1 connections per origin and address allowance. Bytes pass as they are,
 * nothing is decompressed, redirected or sent twice.
 *
 * A server may close a resting connection at the moment a request is written to it. Whether it read the request cannot
 * be known, so the call fails with `provider_unreachable` instead of being repeated; to make that rare, a connection
 * rests 4 s at most, or 2 s less than the server's `keep-alive` header says.
 */
import type { LookupFunction } from 'node:net';
import { Pool } from 'undici';
import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { Upstream, UpstreamRequest } from '../core/upstream.ts';
import { DeadlineSweep } from './deadline-sweep.ts';
import { type Demand, UpstreamCall } from './upstream-call.ts';
import { createConnector } from './upstream-connector.ts';

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
	close(): Promise<void>;
}

/** More origins than any configuration names; the oldest pool gives way. */
const maxPoolsPerAllowance = 64;

/** The precision of time limits. */
const sweepMs = 20;

/** What is known of the calls to one origin when undici asks for a connection. */
interface OriginPool extends Demand {
	readonly pool: Pool;
	/** Of the latest request: connections are made for whoever comes next. */
	connectMs: number;
}

export function createUpstreamClient(options: UpstreamClientOptions): UpstreamClient {
	const parts = { clock: options.clock, log: options.log, deadlines: new DeadlineSweep(options.clock, sweepMs) };
	const publicPools = new Map<string, OriginPool>();
	const privatePools = new Map<string, OriginPool>();
	const poolFor = (request: UpstreamRequest): OriginPool => {
		const pools = request.mayReachPrivateNetwork ? privatePools : publicPools;
		let entry = pools.get(request.origin);
		if (entry === undefined) {
			entry = openPool(request, options);
			evictOldest(pools);
			pools.set(request.origin, entry);
		}
		entry.connectMs = request.timeouts.connectMs;
		return entry;
	};
	return {
		send: (request) =>
			new Promise((resolve, reject) => {
				const origin = poolFor(request);
				new UpstreamCall(parts, request, resolve, reject).dispatch(origin.pool, origin);
			}),
		async close() {
			const entries = [...publicPools.values(), ...privatePools.values()];
			publicPools.clear();
			privatePools.clear();
			await Promise.all(entries.map((entry) => entry.pool.destroy()));
		},
	};
}

function openPool(request: UpstreamRequest, options: UpstreamClientOptions): OriginPool {
	const { clock, maxConnectionsPerOrigin, isAllowedAddress, lookup, ca } = options;
	const connect = createConnector({
		clock,
		lookup,
		ca,
		isAllowedAddress: request.mayReachPrivateNetwork ? undefined : isAllowedAddress,
		connectMs: () => entry.connectMs,
		isWanted: () => entry.waiting > 0,
	});
	const pool = new Pool(request.origin, {
		connect,
		connections: maxConnectionsPerOrigin,
		pipelining: 1,
		keepAliveTimeout: 4000,
		keepAliveMaxTimeout: 60_000,
		keepAliveTimeoutThreshold: 2000,
		maxHeaderSize: 65_536,
		// Time limits are the call's own: undici's are half a second off.
		headersTimeout: 0,
		bodyTimeout: 0,
	});
	const entry: OriginPool = { pool, connectMs: request.timeouts.connectMs, waiting: 0 };
	return entry;
}

function evictOldest(pools: Map<string, OriginPool>): void {
	const [oldest] = pools;
	if (oldest === undefined || pools.size < maxPoolsPerAllowance) return;
	pools.delete(oldest[0]);
	void oldest[1].pool.close();
}
