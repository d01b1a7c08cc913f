import type { Config } from '../config/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { Handler, Role } from '../core/handler.ts';
import type { Log } from '../core/log.ts';
import { createHttpServer, type HttpServer, type TlsMaterial } from '../io/http1/server/http-server.ts';
import { createMetrics, type ScrapedMetrics } from '../io/metrics.ts';
import { createRequestIds } from '../io/request-ids.ts';
import type { RequestObserver } from '../io/request-log.ts';
import { createProxyTest } from '../policy/firewall/client-address.ts';
import { renderEdgeRefusal } from '../wire/pages.ts';
import { type ConnectionLimits, divideDescriptors } from './connection-limits.ts';
import { listenAddress, serverLimits } from './settings.ts';
import { scrapeWorkers } from './worker-metrics.ts';

/** A role with what the composition must know of it. */
export interface Part {
	readonly role: Role;
	/**
	 * Makes ready what can change without a restart, and changes nothing yet. @returns what puts it in force and cannot fail.
	 * @throws Error when the settings contradict themselves.
	 */
	prepare?(config: Config): () => void;
	/** All roles of the process listen. */
	noteListening?(): void;
}

/** What every part needs. */
export interface World {
	readonly config: Config;
	readonly clock: Clock;
	readonly log: Log;
	readonly metrics: ScrapedMetrics;
	readonly newRequestId: () => string;
	readonly phase: () => Phase;
	readonly connections: ConnectionLimits;
	/** How to close what was opened, for the end and for a start that fails: the last comes first, once the roles have stopped. */
	readonly opened: AsyncDisposableStack;
}

/** Told to stop, a product that is shutting down still serves but says that it is not ready; one that is draining takes nothing new. */
export type Phase = 'serving' | 'shutting_down' | 'draining';

export function createWorld(parts: Pick<World, 'config' | 'clock' | 'log' | 'phase' | 'opened'>): World {
	const { config, clock, log } = parts;
	return {
		...parts,
		connections: divideDescriptors(config, log),
		metrics: createMetrics(() => scrapeWorkers(clock)),
		newRequestId: createRequestIds(clock),
	};
}

export interface ServeOptions {
	/** In place of the one of `listen`. */
	readonly port?: number | undefined;
	/** As many as clients of the data plane unless given. */
	readonly maxConnections?: number | undefined;
	readonly observe?: RequestObserver;
	/** Plain HTTP unless given. */
	readonly tls?: TlsMaterial | undefined;
}

/** A server of the data plane's kind. */
export function serve(
	{ config, clock, log, newRequestId, connections }: World,
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
		renderRefusal: renderEdgeRefusal,
	});
}
