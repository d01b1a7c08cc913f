/**
 * Limits wrong secrets per minute. The main limit is per client and source address, so that guessing locks out only the guesser. Limits of
 * ten times as many, per client from all addresses and per address for all clients, bound distributed guessing. An address from which the
 * client has authenticated before is exempt from those two.
 */
import { BoundedMap } from '../../core/bounded-map.ts';
import type { Clock } from '../../core/clock.ts';
import { Rejection } from '../../core/rejection.ts';
import { parseIpAddress } from '../../policy/firewall/ip-address.ts';

export interface AttemptThrottle {
	/** @throws `Rejection` `too_many_attempts`. */
	check(clientId: string, address: string): void;
	/** Checks, and counts an attempt as wrong until `forgive`. @throws `Rejection` `too_many_attempts`. */
	count(clientId: string, address: string): void;
	/** Removes an attempt whose secret was right. */
	forgive(clientId: string, address: string): void;
	/** Exempts the pair after the client authenticated from this address. */
	trust(clientId: string, address: string): void;
}

const windowMs = 60_000;
const spreadFactor = 10;
const maxEntries = 20_000;

interface Window {
	count: number;
	readonly endsAtMs: number;
}

export function createAttemptThrottle(clock: Clock, maxPerMinute: () => number): AttemptThrottle {
	const windows = new BoundedMap<string, Window>(maxEntries);
	const trusted = new BoundedMap<string, true>(maxEntries);

	const currentOf = (key: string): Window | undefined => {
		const window = windows.get(key);
		return window !== undefined && window.endsAtMs > clock.monotonicMs() ? window : undefined;
	};
	const limitsOf = (clientId: string, address: string): [key: string, limit: number][] => {
		const network = networkOf(address);
		const pair = pairOf(clientId, address);
		const spreadLimit = trusted.has(pair) ? Infinity : maxPerMinute() * spreadFactor;
		return [
			[pair, maxPerMinute()],
			[`client ${clientId}`, spreadLimit],
			[`address ${network}`, spreadLimit],
		];
	};
	const check = (clientId: string, address: string): void => {
		for (const [key, limit] of limitsOf(clientId, address)) {
			const window = currentOf(key);
			if (window === undefined || window.count < limit) continue;
			const retryAfterSeconds = Math.max(1, Math.ceil((window.endsAtMs - clock.monotonicMs()) / 1000));
			throw new Rejection('too_many_attempts', {
				message: `Too many failed authentications within one minute: retry in ${retryAfterSeconds} s with the correct secret`,
				retryAfterSeconds,
			});
		}
	};
	return {
		check,
		count(clientId, address) {
			check(clientId, address);
			for (const [key] of limitsOf(clientId, address)) {
				const window = currentOf(key);
				if (window === undefined) windows.set(key, { count: 1, endsAtMs: clock.monotonicMs() + windowMs });
				else window.count++;
			}
		},
		forgive(clientId, address) {
			for (const [key] of limitsOf(clientId, address)) {
				const window = currentOf(key);
				if (window === undefined) continue;
				if (window.count > 1) window.count--;
				else windows.delete(key);
			}
		},
		trust(clientId, address) {
			trusted.set(pairOf(clientId, address), true);
		},
	};
}

function pairOf(clientId: string, address: string): string {
	return `pair ${clientId} ${networkOf(address)}`;
}

/** Returns the IPv4 address, or the /64 network of an IPv6 address, because a single user has a /64. */
function networkOf(address: string): string {
	const parsed = parseIpAddress(address);
	if (parsed === undefined || parsed.family === 4) return address;
	// A dual-stack socket reports an IPv4 peer as ::ffff:a.b.c.d.
	return parsed.bits >> 32n === 0xffffn ? `v4-mapped ${parsed.bits}` : `v6 ${parsed.bits >> 64n}`;
}
