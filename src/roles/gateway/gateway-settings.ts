import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { Readiness } from '../../core/readiness.ts';
import type { Team } from '../../core/team.ts';
import type { Upstream, UpstreamTimeouts } from '../../core/upstream.ts';
import type { AccessTokenVerifier } from '../../policy/access/access-token-verifier.ts';
import type { RoutedProvider, RoutingSettings } from '../../policy/routing/routing-settings.ts';
import type { ProviderSettings } from '../../wire/providers/provider.ts';

export interface GatewaySettings {
	/** Callers need the scope `<scopeBase>/invoke`. */
	readonly scopeBase: string;
	/** True: a balancer in front has verified the access token, and nothing else can reach this port. */
	readonly trustEdge: boolean;
	readonly maxBodyBytes: number;
	readonly timeouts: UpstreamTimeouts;
	/** A stream that was silent for so long gets a comment. */
	readonly heartbeatMs: number;
	readonly providers: readonly (ProviderSettings & RoutedProvider)[];
	readonly routing: RoutingSettings;
	/** What becomes of a valid caller whose client belongs to no team: its own team of this tier, or a refusal. */
	readonly unregisteredClients: { readonly tier: string } | 'reject';
}

/** Everything the gateway needs of the world. */
export interface GatewayPorts {
	readonly upstream: Upstream;
	readonly verifier: AccessTokenVerifier;
	readonly teams: TeamDirectory;
	readonly clock: Clock;
	readonly log: Log;
	readonly readiness: () => Readiness | Promise<Readiness>;
}

export interface TeamDirectory {
	teamOf(clientId: string): Team | undefined;
}
