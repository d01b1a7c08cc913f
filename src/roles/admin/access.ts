/** Who may ask the admin API for what. Requests without a token that counts are counted by their source address. */

import { BoundedMap } from '../../core/bounded-map.ts';
import type { Caller } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import type { HeaderFields } from '../../core/handler.ts';
import { Refusal } from '../../core/refusal.ts';
import { invalidToken } from '../../policy/access/invalid-token.ts';
import { requireScope } from '../../policy/access/require-scope.ts';
import { readBearer } from '../../policy/access/token-headers.ts';
import { createClientAddressReader } from '../../policy/firewall/client-address.ts';
import { sourceKey } from '../../policy/firewall/source-key.ts';
import { msToNextMinute } from '../../policy/limits/utc-time.ts';
import type { AdminPorts, AdminSettings } from './admin-settings.ts';

export interface Requester {
	/** For the audit log. */
	readonly actor: string;
	/** Whose idempotency keys these are. */
	readonly clientId: string;
}

export interface AccessRequest {
	readonly peerAddress: string;
	readonly headers: HeaderFields;
	/** Every field of that name. */
	readonly authorizations: readonly string[];
}

export interface Access {
	/**
	 * @throws Refusal `token_missing`, `token_invalid`, `scope_missing`, `admin_rate_exceeded`; Fault `key_set_unavailable`,
	 * `records_unavailable`.
	 */
	identify(request: AccessRequest): Promise<Requester>;
	/** Of what needs no token. @throws Refusal `admin_rate_exceeded`. */
	countStranger(request: AccessRequest): void;
}

export function createTokenAccess(
	settings: Pick<AdminSettings, 'scopeBase' | 'ownIssuer' | 'maxRequestsPerMinute' | 'maxUnauthenticatedPerMinute' | 'trustedProxies'>,
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
		(most) => `The client exceeded ${most} admin requests per minute (\`admin.max_requests_per_minute\`)`,
	);
	const countAddress = createRequestThrottle(
		clock,
		() => settings.maxUnauthenticatedPerMinute,
		(most) => `This address exceeded ${most} requests per minute without a valid access token (\`admin.max_unauthenticated_per_minute\`)`,
	);
	const addressOf = createClientAddressReader(settings.trustedProxies);
	const scope = `${settings.scopeBase}/admin`;
	/** A token lives on when its client is disabled, deleted or stripped of the scope; its rights here end at once. */
	const requireStanding = async (caller: Caller): Promise<void> => {
		const { clientId } = caller;
		if (caller.issuer !== settings.ownIssuer) return;
		const pinned = configured().pinnedClients.find(({ id }) => id === clientId);
		const stored = pinned === undefined ? await records.clients.get(clientId) : undefined;
		const client = pinned ?? stored;
		if (client === undefined || stored?.isDisabled === true) throw invalidToken('its client was deleted or disabled');
		requireScope({ scopes: new Set(client.scopes.map((name) => `${settings.scopeBase}/${name}`)) }, scope);
	};
	const countStranger: Access['countStranger'] = (request) => {
		const { high, low } = sourceKey(addressOf(request));
		countAddress(`${high}:${low}`);
	};
	return {
		countStranger,
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
				// Who has a good token is never counted by address: strangers behind the same one cannot lock it out.
				if (cause instanceof Refusal && cause.code !== 'admin_rate_exceeded') countStranger(request);
				throw cause;
			}
		},
	};
}

/** For commands, which may open the stores anyway. The server that has it must never listen. */
export function createTrustedAccess(actor: string): Access {
	return { identify: () => Promise.resolve({ actor, clientId: '' }), countStranger: () => undefined };
}

const mostRemembered = 10_000;

interface Count {
	readonly minute: number;
	requests: number;
}

/**
 * Counts requests by requester and UTC minute; of more than 10,000 requesters the longest known are forgotten.
 * @param maxPerMinute asked anew each time. @param describe the refusal, given the limit.
 * @returns what counts one. @throws Refusal `admin_rate_exceeded`.
 */
function createRequestThrottle(clock: Clock, maxPerMinute: () => number, describe: (limit: number) => string): (requester: string) => void {
	const counts = new BoundedMap<string, Count>(mostRemembered);
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
			throw new Refusal('admin_rate_exceeded', {
				message: describe(limit),
				retryAfterSeconds: Math.ceil(msToNextMinute(nowMs) / 1000),
			});
		}
		count.requests++;
	};
}
