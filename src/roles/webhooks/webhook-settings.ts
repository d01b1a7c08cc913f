import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { Metrics } from '../../core/metrics.ts';
import type { NoticeEvent } from '../../core/notice.ts';
import type { Upstream, UpstreamProxy } from '../../core/upstream.ts';
import type { WebhookDeliveries } from '../../stores/contracts/webhook-deliveries.ts';

export interface WebhookSettings {
	readonly name: string;
	readonly url: string;
	/** Key of the signatures; never logged. */
	readonly secret: string;
	readonly events: readonly NoticeEvent[];
	readonly canReachPrivateNetwork: boolean;
	/** Proxy to the receiver; direct by default. */
	readonly proxy?: UpstreamProxy | undefined;
	/** Time before the expiry of a credential at which the webhook gets `credential.expiring`. */
	readonly credentialExpiryMs: number;
	/** Minimum cost of an hour that is an anomaly. */
	readonly minAnomalyNanoUsd: bigint;
}

export interface WebhookPorts {
	readonly upstream: Upstream;
	readonly deliveries: WebhookDeliveries;
	readonly clock: Clock;
	readonly log: Log;
	readonly metrics: Metrics;
	/** Returns a uniform random number in [0, 1). */
	readonly chance: () => number;
	/** Returns an id that is used once. */
	readonly newId: () => string;
}
