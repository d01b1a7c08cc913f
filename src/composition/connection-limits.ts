/** Divides the descriptors of the process between its servers, so that none of them takes those that stores and providers need. */
import type { Config } from '../config/schema.ts';

export interface ConnectionLimits {
	/** Of clients to each server of the data plane's kind: edge, gateway, simulator. */
	readonly clients: number;
	/** To each provider, or to each gateway behind an edge. */
	readonly perOrigin: number;
	/** Of clients to identity, admin API and metrics, each; undefined where their own limits fit. */
	readonly documents: number | undefined;
}

/** Standard streams, listeners, threads, log, stores and the connections of these: 54 in a process with every role on SQLite. */
const reserved = 96;
const minAvailable = 32;
/** Of what is available, for each of identity, admin API and metrics. */
const documentShare = 1 / 16;
const minDocuments = 8;
/** More than any of these servers takes by itself. */
const mostDocuments = 1000;
/** Each carries one request at a time. */
const maxPerOrigin = 4096;

/** @param descriptorLimit of the process; undefined: none. */
export function connectionLimits(config: Config, descriptorLimit: number | undefined): ConnectionLimits {
	const configured = config.edge.limits.max_connections;
	if (descriptorLimit === undefined) return { clients: configured, perOrigin: maxPerOrigin, documents: undefined };
	const available = Math.max(minAvailable, descriptorLimit - reserved);
	const documents = Math.min(mostDocuments, Math.max(minDocuments, Math.floor(available * documentShare)));
	const { roles, enable_admin_api: hasAdmin, metrics } = config;
	const servers = [roles.includes('identity'), roles.includes('admin') && hasAdmin, metrics.listen !== null].filter(Boolean);
	// A client's request has a connection to its provider too.
	const perClient = (roles.includes('edge') || roles.includes('gateway') ? 2 : 0) + (roles.includes('simulator') ? 1 : 0);
	const share = Math.max(1, Math.floor((available - servers.length * documents) / Math.max(1, perClient)));
	return { clients: Math.min(configured, share), perOrigin: Math.min(maxPerOrigin, share), documents };
}
