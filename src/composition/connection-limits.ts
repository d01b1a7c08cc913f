/** Divides the descriptors of the process between its servers, so that none of them takes those that stores and providers need. */

import { readFileSync } from 'node:fs';
import type { Config } from '../config/schema.ts';
import type { Log } from '../core/log.ts';

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

/** What this process has, and says in the log where that is less than configured. */
export function divideDescriptors(config: Config, log: Log): ConnectionLimits {
	const descriptorLimit = readDescriptorLimit();
	const limits = connectionLimits(config, descriptorLimit);
	noteLowered(config, limits, descriptorLimit, log);
	return limits;
}

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

/** Fewer than this are too few for most deployments. */
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

/** How many files and sockets the system lets the process open; undefined where it sets no limit, or is not Linux. */
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
