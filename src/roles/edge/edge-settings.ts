import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { Readiness } from '../../core/readiness.ts';
import type { AccessTokenVerifier } from '../../policy/access/access-token-verifier.ts';
import type { IpRateSettings } from '../../policy/firewall/ip-rate-window.ts';

export interface EdgeSettings {
	/** Callers need the scope `<scopeBase>/invoke`. */
	readonly scopeBase: string;
	readonly perIp: IpRateSettings;
	/** Addresses and CIDR ranges whose `x-forwarded-for` is believed. */
	readonly trustedProxies: readonly string[];
}

/** Everything the edge needs of the world. */
export interface EdgePorts {
	readonly verifier: AccessTokenVerifier;
	readonly clock: Clock;
	readonly log: Log;
	readonly readiness: () => Readiness | Promise<Readiness>;
	/** True: new requests are refused, for what is in flight is all that will be finished. */
	readonly isDraining: () => boolean;
	/** A random integer of 32 bits, another one in each process. */
	readonly hashSeed: number;
}
