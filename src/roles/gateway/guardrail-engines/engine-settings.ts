import type { UpstreamProxy, UpstreamTimeouts } from '../../../core/upstream.ts';
import type { RuleAction } from '../../../policy/guardrails/guardrail.ts';
import type { ProtocolSettings } from '../../../wire/guardrail-engines/engine-protocols.ts';
import type { AwsCredentials } from './sign-aws-request.ts';

export interface EngineSettings {
	/** As assessments, log lines and metrics show it. */
	readonly name: string;
	/** What becomes of what it is sure of, for teams without a rule of their own. */
	readonly action: RuleAction;
	readonly protocol: ProtocolSettings;
	/** Scheme, host, port and perhaps a path; from configuration only. */
	readonly baseUrl: string;
	readonly mayReachPrivateNetwork: boolean;
	/** The proxy to it; none by default. */
	readonly proxy?: UpstreamProxy | undefined;
	/** Of Bedrock without an API key: requests are signed with them. */
	readonly awsCredentials: AwsCredentials | null;
	/** For one judgement, whatever it takes: waiting for a place included. */
	readonly timeoutMs: number;
	/** Requests in flight; as many judgements as eight times that may wait for a place. */
	readonly mostConcurrent: number;
	/** What becomes of a text that the engine could not judge: `open` lets it pass, `closed` counts it as blocked. */
	readonly onFailure: 'open' | 'closed';
	/** Scores from which a category is noted, and is sure enough to block. */
	readonly thresholds: { readonly log: number; readonly block: number };
	/** Undefined: nobody said what it charges. */
	readonly price: EnginePrice | undefined;
}

export interface EnginePrice {
	readonly inputPicoUsd: bigint;
	readonly outputPicoUsd: bigint;
	readonly thousandUnitsNanoUsd: bigint;
}

/** Within what is left of the judgement's time. */
export function timeoutsWithin(leftMs: number): UpstreamTimeouts {
	return { connectMs: leftMs, firstByteMs: leftMs, idleMs: leftMs, totalMs: leftMs };
}
