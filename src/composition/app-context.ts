import type { Config } from '../config/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { Handler, Role } from '../core/handler.ts';
import type { Log } from '../core/log.ts';
import { createHttpServer, type HttpServer, type TlsMaterial } from '../io/http1/server/http-server.ts';
import { createMetrics, type ScrapedMetrics } from '../io/metrics.ts';
import { createRequestIds } from '../io/request-ids.ts';
import type { RequestObserver } from '../io/request-log.ts';
import { createProxyTest } from '../policy/firewall/client-address.ts';
import { renderEdgeRejection } from '../wire/pages.ts';
import { type ConnectionLimits, divideDescriptors } from './connection-limits.ts';
import { listenAddress, serverLimits } from './settings.ts';
import { scrapeWorkers } from './worker-metrics.ts';

/** A role with its hooks for the composition. */
export interface Component {
	readonly role: Role;
	/**
	 * Prepares settings that can change without a restart, without applying them.
	 * @returns a function that applies them and cannot fail.
	 * @throws Error if the settings contradict each other.
	 */
	prepare?(config: Config): () => void;
	/** Called when all roles of the process listen. */
	noteListening?(): void;
}

/** Dependencies that all parts share. */
export interface AppContext {
	readonly config: Config;
	readonly clock: Clock;
	readonly log: Log;
	readonly metrics: ScrapedMetrics;
	readonly newRequestId: () => string;
	readonly phase: () => Phase;
	readonly connections: ConnectionLimits;
	/** Cleanup for the shutdown and for a failed start. It runs in reverse order, after the roles have stopped. */
	readonly cleanup: AsyncDisposableStack;
}

/**
 * Phases of a process. While shutting down, it still serves but reports that it is not ready; while draining, it accepts no new requests.
 */
export type Phase = 'serving' | 'shutting_down' | 'draining';

export function createAppContext(parts: Pick<AppContext, 'config' | 'clock' | 'log' | 'phase' | 'cleanup'>): AppContext {
	const { config, clock, log } = parts;
	return {
		...parts,
		connections: divideDescriptors(config, log),
		metrics: createMetrics(() => scrapeWorkers(clock)),
		newRequestId: createRequestIds(clock),
	};
}

export interface ServeOptions {
	/** Overrides the port of `listen`. */
	readonly port?: number | undefined;
	/** Defaults to the client connections of the data plane. */
	readonly maxConnections?: number | undefined;
	readonly observe?: RequestObserver;
	/** Plain HTTP by default. */
	readonly tls?: TlsMaterial | undefined;
}

/** Creates a server with the data plane's limits. */
export function serve(
	{ config, clock, log, newRequestId, connections }: AppContext,
	handler: Handler,
	listen: string,
	{ port, maxConnections = connections.clients, observe, tls }: ServeOptions = {},
): HttpServer {
	return createHttpServer(handler, {
		listen: { ...listenAddress(listen), ...(port !== undefined && { port }) },
		limits: { ...serverLimits(config), maxConnections },
		isExemptPeer: createProxyTest(config.edge.trusted_proxies),
		tls,
		maxBufferedBytesPerClient: config.gateway.max_buffered_bytes_per_client,
		stalledWriteMs: config.edge.limits.stalled_write_ms,
		clock,
		log,
		...(observe !== undefined && { observe }),
		newRequestId,
		renderRejection: renderEdgeRejection,
	});
}
