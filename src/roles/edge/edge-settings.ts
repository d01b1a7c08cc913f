import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { Readiness } from '../../core/readiness.ts';
import type { AccessTokenVerifier } from '../../policy/access/access-token-verifier.ts';
import type { TokenHeader } from '../../policy/access/token-headers.ts';
import type { Firewall } from '../../policy/firewall/firewall.ts';
import type { ShedReason } from '../../policy/overload/load-shedder.ts';

export interface EdgeSettings {
	/** Clients need the scope `<scopeBase>/invoke`. */
	readonly scopeBase: string;
	/** Header fields that may contain the access token. */
	readonly tokenHeaders: readonly TokenHeader[];
}

/** Dependencies of the edge. */
export interface EdgePorts {
	readonly verifier: AccessTokenVerifier;
	readonly clock: Clock;
	readonly log: Log;
	readonly readiness: () => Readiness | Promise<Readiness>;
	/** True while draining: new requests are rejected and in-flight ones finish. */
	readonly isDraining: () => boolean;
	/** True from the start of the shutdown, while requests are still accepted. `GET /` reports it to an edge in front. */
	readonly isShuttingDown: () => boolean;
	/** Returns the reason to shed one more request; undefined to accept it. */
	readonly overload: () => ShedReason | undefined;
	/** Evaluates each request first. */
	readonly firewall: Firewall;
}
