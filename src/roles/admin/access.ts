/** Authentication, authorization and rate limits of the admin API. Requests without a valid token are limited by source address. */

import { BoundedMap } from '../../core/bounded-map.ts';
import type { Caller } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import type { HeaderFields } from '../../core/handler.ts';
import { Rejection } from '../../core/rejection.ts';
import { invalidToken } from '../../policy/access/invalid-token.ts';
import { requireScope } from '../../policy/access/require-scope.ts';
import { readBearer } from '../../policy/access/token-headers.ts';
import { createClientAddressReader } from '../../policy/firewall/client-address.ts';
import { sourceKey } from '../../policy/firewall/source-key.ts';
import { msToNextMinute } from '../../policy/limits/utc-time.ts';
import type { AdminPorts, AdminSettings } from './admin-settings.ts';

export interface Requester {
	/** Client or command, for the audit log. */
	readonly actor: string;
	/** Owner of the request's idempotency keys. */
	readonly clientId: string;
}

export interface AccessRequest {
	readonly peerAddress: string;
	readonly headers: HeaderFields;
	/** All `authorization` fields of the request. */
	readonly authorizations: readonly string[];
}

export interface Access {
	/**
	 * @throws `Rejection` `token_missing`, `token_invalid`, `scope_missing`, `admin_rate_exceeded`; `UpstreamError` `key_set_unavailable`,
	 * `records_unavailable`.
	 */
	identify(request: AccessRequest): Promise<Requester>;
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
	const scope = `${settings.scopeBase}/admin`;
	/**
	 * Rejects tokens of the embedded identity whose client was disabled, deleted or stripped of the scope. Tokens outlive such a change,
	 * but admin access ends at once.
	 */
	const requireStanding = async (caller: Caller): Promise<void> => {
		const { clientId } = caller;
		if (caller.issuer !== settings.embeddedIssuer) return;
		const pinned = configured().configClients.find(({ id }) => id === clientId);
		const stored = pinned === undefined ? await records.clients.get(clientId) : undefined;
		const client = pinned ?? stored;
		if (client === undefined || stored?.isDisabled === true) throw invalidToken('its client was deleted or disabled');
		requireScope({ scopes: new Set(client.scopes.map((name) => `${settings.scopeBase}/${name}`)) }, scope);
	};
	const countUnauthenticated: Access['countUnauthenticated'] = (request) => {
		const { high, low } = sourceKey(addressOf(request));
		countAddress(`${high}:${low}`);
	};
	return {
		countUnauthenticated,
		async identify(request) {
			const [first, ...more] = request.authorizations;
			try {
				const accessToken = readBearer(first === undefined || more.length === 0 ? first : [first, ...more]);
				const caller = requireScope(await verifier.verify(accessToken), scope);
				const { clientId } = caller;
				countClient(clientId);
				await requireStanding(caller);
				return { actor: `client:${clientId}`, clientId };
			} catch (cause) {
				// Requests with a valid token are never counted by address, so that unauthenticated clients behind the same address cannot
				// lock them out.
				if (cause instanceof Rejection && cause.code !== 'admin_rate_exceeded') countUnauthenticated(request);
				throw cause;
			}
		},
	};
}

/** Accepts every request, for commands, which may open the stores anyway. A server with this access must never listen. */
export function createTrustedAccess(actor: string): Access {
	return { identify: () => Promise.resolve({ actor, clientId: '' }), countUnauthenticated: () => undefined };
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
