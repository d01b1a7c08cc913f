/**
 * Counts wrong secrets, by minute. The count that matters is per client and source address, so that whoever guesses locks out
 * nobody but himself. Ten times as many, per client from anywhere and per address for any client, bound guessing that is spread
 * out; an address from which a client was right before is exempt from those two.
 */
import { BoundedMap } from '../../core/bounded-map.ts';
import type { Clock } from '../../core/clock.ts';
import { Refusal } from '../../core/refusal.ts';
import { parseIpAddress } from '../../policy/firewall/ip-address.ts';

export interface AttemptThrottle {
	/** @throws Refusal `too_many_attempts`. */
	check(clientId: string, address: string): void;
	/** Checks, and counts an attempt as wrong until it is forgiven. @throws Refusal `too_many_attempts`. */
	count(clientId: string, address: string): void;
	/** The attempt was right after all. */
	forgive(clientId: string, address: string): void;
	/** The client was right from this address. */
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
			throw new Refusal('too_many_attempts', {
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

/** One IPv4 address, or the /64 that a single IPv6 user has. */
function networkOf(address: string): string {
	const parsed = parseIpAddress(address);
	if (parsed === undefined || parsed.family === 4) return address;
	// ::ffff:a.b.c.d is how a dual-stack socket shows an IPv4 peer.
	return parsed.bits >> 32n === 0xffffn ? `v4-mapped ${parsed.bits}` : `v6 ${parsed.bits >> 64n}`;
}
