/** Divides the process's file descriptors between its servers, so that stores and providers always have enough. */

import { readFileSync } from 'node:fs';
import type { Config } from '../config/schema.ts';
import type { Log } from '../core/log.ts';

export interface ConnectionLimits {
	/** Client connections per server of the data plane's kind: edge, gateway, simulator. */
	readonly clients: number;
	/** Connections per provider, or per gateway behind an edge. */
	readonly perOrigin: number;
	/** Client connections of identity, admin API and metrics, each; undefined if their own limits fit. */
	readonly documents: number | undefined;
}

/** Descriptors for standard streams, listeners, threads, log, stores and their connections. A process with every role on SQLite uses 54. */
const reserved = 96;
const minAvailable = 32;
/** Share of the available descriptors for each of identity, admin API and metrics. */
const documentShare = 1 / 16;
const minDocuments = 8;
/** Exceeds the own limit of each of these servers. */
const maxDocuments = 1000;
/** Upper bound, because each connection carries one request at a time. */
const maxPerOrigin = 4096;

/** Divides the descriptors of this process, and logs a warning if they allow less than the configuration. */
export function divideDescriptors(config: Config, log: Log): ConnectionLimits {
	const descriptorLimit = readDescriptorLimit();
	const limits = connectionLimits(config, descriptorLimit);
	noteLowered(config, limits, descriptorLimit, log);
	return limits;
}

/** @param descriptorLimit of the process; undefined if unlimited. */
export function connectionLimits(config: Config, descriptorLimit: number | undefined): ConnectionLimits {
	const configured = config.edge.limits.max_connections;
	if (descriptorLimit === undefined) return { clients: configured, perOrigin: maxPerOrigin, documents: undefined };
	const available = Math.max(minAvailable, descriptorLimit - reserved);
	const documents = Math.min(maxDocuments, Math.max(minDocuments, Math.floor(available * documentShare)));
	const { roles, enable_admin_api: hasAdmin, metrics } = config;
	const servers = [roles.includes('identity'), roles.includes('admin') && hasAdmin, metrics.listen !== null].filter(Boolean);
	// A client's request also needs a connection to its provider.
	const perClient = (roles.includes('edge') || roles.includes('gateway') ? 2 : 0) + (roles.includes('simulator') ? 1 : 0);
	const share = Math.max(1, Math.floor((available - servers.length * documents) / Math.max(1, perClient)));
	return { clients: Math.min(configured, share), perOrigin: Math.min(maxPerOrigin, share), documents };
}

/** Threshold of the warning: fewer connections are too few for most deployments. */
const fewConnections = 1000;

function noteLowered(
	{ edge: { limits }, roles }: Config,
	{ clients }: ConnectionLimits,
	descriptorLimit: number | undefined,
	log: Log,
): void {
	const configured = limits.max_connections;
	if (clients === configured || !roles.some((role) => role === 'edge' || role === 'gateway')) return;
	const fields = { max_connections: clients, configured, descriptor_limit: descriptorLimit };
	log[clients < fewConnections ? 'warn' : 'info']('fewer connections than configured: raise the descriptor limit', fields);
}

/** Reads how many files and sockets the process may open; undefined if the system sets no limit or is not Linux. */
function readDescriptorLimit(): number | undefined {
	try {
		return parseDescriptorLimit(readFileSync('/proc/self/limits', 'utf8'));
	} catch {
		return undefined;
	}
}

/** @param text of `/proc/self/limits`. */
export function parseDescriptorLimit(text: string): number | undefined {
	const soft = /^Max open files\s+(\d+)/m.exec(text)?.[1];
	return soft === undefined ? undefined : Number(soft);
}
