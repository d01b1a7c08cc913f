/** Authentication, authorization and rate limits of the admin API. Requests without a valid token are limited by source address. */

import { BoundedMap } from '../../core/bounded-map.ts';
import type { Caller } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import type { HeaderFields } from '../../core/handler.ts';
import { Rejection } from '../../core/rejection.ts';
import { adminScope, isAdminScope } from '../../core/scope-names.ts';
import { type AdminRights, fullRights, isAdministrator, readAdminRights } from '../../policy/access/admin-rights.ts';
import { invalidToken } from '../../policy/access/invalid-token.ts';
import { scopeMissing } from '../../policy/access/require-scope.ts';
import { readBearer } from '../../policy/access/token-headers.ts';
import { createClientAddressReader } from '../../policy/firewall/client-address.ts';
import { sourceKey } from '../../policy/firewall/source-key.ts';
import { msToNextMinute } from '../../policy/limits/utc-time.ts';
import type { AdminPorts, AdminSettings } from './admin-settings.ts';
import { type AdminAccess, type Authority, authorize } from './team-access.ts';

export interface Requester {
	/** Client or command, for the audit log. */
	readonly actor: string;
	readonly clientId: string;
	/** Owner of the request's idempotency keys. */
	readonly owner: string;
	/** Undefined for a path that does not exist. */
	readonly authority: Authority | undefined;
}

export interface AccessRequest {
	readonly peerAddress: string;
	readonly headers: HeaderFields;
	/** All `authorization` fields of the request. */
	readonly authorizations: readonly string[];
}

export interface Access {
	/**
	 * @param access of the operation; undefined for a path that does not exist.
	 * @throws `Rejection` `token_missing`, `token_invalid`, `scope_missing`, `admin_rate_exceeded`; `UpstreamError` `key_set_unavailable`,
	 * `records_unavailable`.
	 */
	identify(request: AccessRequest, access: AdminAccess | undefined): Promise<Requester>;
	/** Counts a request that needs no token. @throws `Rejection` `admin_rate_exceeded`. */
	countUnauthenticated(request: AccessRequest): void;
}

export function createTokenAccess(
	settings: Pick<AdminSettings, 'scopeBase' | 'embeddedIssuer' | 'maxRequestsPerMinute' | 'maxUnauthenticatedPerMinute' | 'trustedProxies'>,
	{
		verifier,
		clock,
		records,
		configured,
	}: Pick<AdminPorts, 'verifier' | 'clock' | 'configured'> & {
		readonly records: Pick<AdminPorts['records'], 'clients'>;
	},
): Access {
	const countClient = createRequestThrottle(
		clock,
		() => settings.maxRequestsPerMinute,
		(max) => `The client exceeded ${max} admin requests per minute (\`admin.max_requests_per_minute\`)`,
	);
	const countAddress = createRequestThrottle(
		clock,
		() => settings.maxUnauthenticatedPerMinute,
		(max) => `This address exceeded ${max} requests per minute without a valid access token (\`admin.max_unauthenticated_per_minute\`)`,
	);
	const addressOf = createClientAddressReader(settings.trustedProxies);
	const prefix = `${settings.scopeBase}/`;
	const namesOf = (scopes: Iterable<string>): string[] =>
		[...scopes].filter((scope) => scope.startsWith(prefix)).map((scope) => scope.slice(prefix.length));
	/**
	 * Returns the scopes in force. Tokens of the embedded identity outlive a client that was disabled, deleted or stripped of a scope, but
	 * admin access ends at once.
	 */
	const standingScopes = async (caller: Caller): Promise<readonly string[]> => {
		const { clientId } = caller;
		const names = namesOf(caller.scopes);
		if (caller.issuer !== settings.embeddedIssuer || names.every((name) => !isAdminScope(name))) return names;
		const pinned = configured().configClients.find(({ id }) => id === clientId);
		const stored = pinned === undefined ? await records.clients.get(clientId) : undefined;
		const client = pinned ?? stored;
		if (client === undefined || stored?.isDisabled === true) throw invalidToken('its client was deleted or disabled');
		return names.filter((name) => client.scopes.includes(name) || caller.grant?.scopes.has(prefix + name) === true);
	};
	/** Rejects clients that are no administrators, and names the scope that the operation needs. */
	const requireRight = (rights: AdminRights, access: AdminAccess | undefined): void => {
		if (!isAdministrator(rights)) throw scopeMissing(`${prefix}${access === undefined ? adminScope : `${adminScope}:${access.needs}`}`);
	};
	const countUnauthenticated: Access['countUnauthenticated'] = (request) => {
		const { high, low } = sourceKey(addressOf(request));
		countAddress(`${high}:${low}`);
	};
	return {
		countUnauthenticated,
		async identify(request, access) {
			const [first, ...more] = request.authorizations;
			let caller: Caller;
			let rights: AdminRights;
			try {
				const accessToken = readBearer(first === undefined || more.length === 0 ? first : [first, ...more]);
				caller = await verifier.verify(accessToken);
				requireRight(readAdminRights(namesOf(caller.scopes)), access);
				countClient(caller.clientId);
				rights = readAdminRights(await standingScopes(caller));
				requireRight(rights, access);
			} catch (cause) {
				// Requests with a valid token are never counted by address, so that unauthenticated clients behind the same address cannot
				// lock them out.
				if (cause instanceof Rejection && cause.code !== 'admin_rate_exceeded') countUnauthenticated(request);
				throw cause;
			}
			const { clientId, issuer } = caller;
			return {
				actor: `client:${clientId}`,
				clientId,
				owner: JSON.stringify([issuer, clientId]),
				authority: access === undefined ? undefined : authorize(rights, access, settings.scopeBase),
			};
		},
	};
}

/** Accepts every request, for commands, which may open the stores anyway. A server with this access must never listen. */
export function createTrustedAccess(actor: string): Access {
	const authority: Authority = { rights: fullRights, teams: 'all', missing: scopeMissing };
	return { identify: () => Promise.resolve({ actor, clientId: '', owner: '', authority }), countUnauthenticated: () => undefined };
}

const maxCached = 10_000;

interface Count {
	readonly minute: number;
	requests: number;
}

/**
 * Limits requests by requester and UTC minute. Remembers 10,000 requesters and forgets the oldest ones first.
 * @param maxPerMinute read for each request.
 * @param describe returns the rejection's message for the limit.
 * @returns a function that records one request.
 * @throws `Rejection` `admin_rate_exceeded`.
 */
function createRequestThrottle(clock: Clock, maxPerMinute: () => number, describe: (limit: number) => string): (requester: string) => void {
	const counts = new BoundedMap<string, Count>(maxCached);
	return (requester) => {
		const nowMs = clock.nowMs();
		const minute = Math.floor(nowMs / 60_000);
		let count = counts.get(requester);
		if (count?.minute !== minute) {
			count = { minute, requests: 0 };
			counts.set(requester, count);
		}
		const limit = maxPerMinute();
		if (count.requests >= limit) {
			throw new Rejection('admin_rate_exceeded', {
				message: describe(limit),
				retryAfterSeconds: Math.ceil(msToNextMinute(nowMs) / 1000),
			});
		}
		count.requests++;
	};
}
