import type { UpstreamProxy, UpstreamTimeouts } from '../../../core/upstream.ts';
import type { RuleAction } from '../../../policy/guardrails/guardrail.ts';
import type { ProtocolSettings } from '../../../wire/moderation/moderation-protocols.ts';
import type { AwsCredentials } from './sign-aws-request.ts';

export interface ModerationProviderSettings {
	/** Name in assessments, log lines and metrics. */
	readonly name: string;
	/** Action for scores above the block threshold, for teams without a rule of their own. */
	readonly action: RuleAction;
	readonly protocol: ProtocolSettings;
	/** Scheme, host, port and optional path; only from the configuration. */
	readonly baseUrl: string;
	readonly canReachPrivateNetwork: boolean;
	/** HTTP proxy; none by default. */
	readonly proxy?: UpstreamProxy | undefined;
	/** Credentials that sign requests to Bedrock, if there is no API key. */
	readonly awsCredentials: AwsCredentials | null;
	/** Timeout of one evaluation, including the wait for a slot. */
	readonly timeoutMs: number;
	/** Maximum in-flight requests; eight times as many can be queued. */
	readonly maxConcurrent: number;
	/** Action for a text that could not be evaluated: `open` lets it pass, `closed` blocks it. */
	readonly onFailure: 'open' | 'closed';
	/** Minimum scores to report a category, and to block it. */
	readonly thresholds: { readonly log: number; readonly block: number };
	/** Undefined if no price is configured or known. */
	readonly price: ModerationPrice | undefined;
}

export interface ModerationPrice {
	readonly inputPicoUsd: bigint;
	readonly outputPicoUsd: bigint;
	readonly thousandUnitsNanoUsd: bigint;
}

/** Timeouts within the time that is left for the evaluation. */
export function timeoutsWithin(remainingMs: number): UpstreamTimeouts {
	return { connectMs: remainingMs, firstByteMs: remainingMs, idleMs: remainingMs, totalMs: remainingMs };
}
