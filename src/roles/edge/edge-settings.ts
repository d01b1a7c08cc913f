import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { Readiness } from '../../core/readiness.ts';
import type { AccessTokenVerifier } from '../../policy/access/access-token-verifier.ts';
import type { TokenHeader } from '../../policy/access/token-headers.ts';
import type { Firewall } from '../../policy/firewall/firewall.ts';
import type { ShedReason } from '../../policy/overload/load-shedder.ts';

export interface EdgeSettings {
	/** Callers need the scope `<scopeBase>/invoke`. */
	readonly scopeBase: string;
	/** Header fields in which the access token is looked for. */
	readonly tokenHeaders: readonly TokenHeader[];
}

/** Everything the edge needs of the world. */
export interface EdgePorts {
	readonly verifier: AccessTokenVerifier;
	readonly clock: Clock;
	readonly log: Log;
	readonly readiness: () => Readiness | Promise<Readiness>;
	/** True: new requests are refused, for what is in flight is all that will be finished. */
	readonly isDraining: () => boolean;
	/** True from the order to stop, while requests may still be taken; an edge in front is told by `GET /`. */
	readonly isLeaving: () => boolean;
	/** Why one more request is to be turned away; undefined when it is to be taken. */
	readonly overload: () => ShedReason | undefined;
	/** Judges each request first. */
	readonly firewall: Firewall;
}
