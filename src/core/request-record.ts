import type { RequestSize } from './cost-factors.ts';
import type { RejectionCode } from './rejection.ts';
import type { ToolCalls } from './usage.ts';

/** Limit that rejected a request, with its counter at that moment. */
export interface ReachedLimit {
	readonly kind: LimitKind;
	/** Nano-dollars for budgets, otherwise requests or tokens. */
	readonly limit: number | bigint;
	readonly used: number | bigint;
	/** Part that in-flight requests reserve, in addition to `used`. */
	readonly reserved: number | bigint;
	/** Unix milliseconds at which `used` becomes zero; null: never. */
	readonly resetsAtMs: number | null;
}

export const limitKinds = [
	'requests_per_minute',
	'daily_tokens',
	'tokens_per_minute',
	'concurrent_requests',
	'budget',
	'model_budget',
] as const;
export type LimitKind = (typeof limitKinds)[number];

/** Effect that a monitored policy would have had: the code of a rejection, a masked text, or another first target. */
export type MonitoredCode = RejectionCode | 'guardrail_masked' | 'route_changed';

/** First target that a monitored routing rule would have chosen. */
export interface RecordedRoute {
	/** Id of the rule. */
	readonly rule: string;
	readonly provider: string;
	readonly model: string;
}

/** Routing inputs that a record needs, because they are neither in its names nor in the configuration. */
export interface RecordedRouting {
	/** Hash of the session that the client names; null: none. */
	readonly session: number | null;
	/** Value of `x-gateway-provider`; null: none. */
	readonly providerHeader: string | null;
	/** True if the request refers to what its provider stores, so that no other can serve it. */
	readonly isPinned: boolean;
	/** True if the first choice of routing was ejected, so that another target came first. */
	readonly isDiverted: boolean;
}

export const plainRouting: RecordedRouting = { session: null, providerHeader: null, isPinned: false, isDiverted: false };

/** One attempt to send a request to a target. */
export interface TargetAttempt {
	readonly provider: string;
	readonly model: string;
	/** Status of the provider's response; null: none came. */
	readonly status: number | null;
	/** Code of the error instead of a response; null: the provider responded. */
	readonly code: string | null;
	/** Time until the response was complete, or a stream began, or the attempt failed. */
	readonly ms: number;
}

/**
 * The record of a request, from which its log line and its stored record are written. No bodies, no secrets, no prompt text. A class, so that every instance has
 * the same shape from the start.
 */
export class RequestRecord {
	/** Request id in the response, if a gateway behind an edge set another one. */
	readonly relayedRequestId?: string | undefined;
	/** Path of the inference endpoint; undefined for other requests, which are not recorded. */
	readonly endpoint?: string | undefined;
	readonly clientId?: string | undefined;
	readonly team?: string | undefined;
	/** True if `access.rules` gave the client its team. */
	readonly isTeamByRule?: boolean | undefined;
	/** Model name as received. */
	readonly modelRequested?: string | undefined;
	/** Values by name. */
	readonly attributes?: Readonly<Record<string, string>> | undefined;
	readonly provider?: string | undefined;
	readonly model?: string | undefined;
	/** Code of the policy rejection, upstream error or internal error that ended the request. */
	readonly code?: string | undefined;
	/** Limit that rejected the request. */
	readonly limit?: ReachedLimit | undefined;
	/** List that allows none of the targets, such as `teams.search.models.deny`. */
	readonly allowList?: string | undefined;
	/** Effects of monitored policies, which were recorded instead of enforced. */
	readonly monitored?: readonly MonitoredCode[] | undefined;
	/** Evaluations that outlive the request and can add to `monitored`; undefined: none. Never rejects. */
	readonly evaluations?: Promise<void> | undefined;
	/** Undefined if no monitored routing rule decided. */
	readonly monitoredRoute?: RecordedRoute | undefined;
	/** Attempts in order, retries included; undefined if nothing was sent. */
	readonly targets?: readonly TargetAttempt[] | undefined;
	/** Milliseconds from the request's arrival to the upstream's first byte. */
	readonly firstByteMs?: number | undefined;
	readonly upstreamStatus?: number | undefined;
	readonly isStreaming?: boolean | undefined;
	readonly requestBytes?: number | undefined;
	/** Undefined if the request was rejected before its body was read. */
	readonly size?: RequestSize | undefined;
	readonly routing?: RecordedRouting | undefined;
	/** True if the gateway limited the output of a request without a limit. */
	readonly isOutputCapped?: boolean | undefined;
	/** Includes cache reads and writes. */
	readonly inputTokens?: number | undefined;
	/** Parts of `inputTokens`. */
	readonly cacheReadTokens?: number | undefined;
	readonly cacheWriteTokens?: number | undefined;
	/** Part of `cacheWriteTokens`. */
	readonly cacheWriteHourTokens?: number | undefined;
	readonly outputTokens?: number | undefined;
	/** Part of `outputTokens`. */
	readonly reasoningTokens?: number | undefined;
	readonly toolCalls?: ToolCalls | undefined;
	readonly costNanoUsd?: bigint | undefined;
	/** True if the usage is estimated, because the provider reported none. */
	readonly isEstimated?: boolean | undefined;
	/** True if the request was admitted while the counters were unreachable. */
	readonly isUncounted?: boolean | undefined;
	/** True if the model had no price. */
	readonly isUnpriced?: boolean | undefined;
}
