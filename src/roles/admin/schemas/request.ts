import { z } from 'zod';
import { limitKinds, type ReachedLimit, type RecordedRoute, type TargetAttempt } from '../../../core/request-record.ts';
import { assessmentOutcomes, type Verdict } from '../../../stores/contracts/assessments.ts';
import { type RecordedRequest, startedMsOf } from '../../../stores/contracts/request-records.ts';
import { pageOf } from '../page.ts';
import { tokens } from './usage.ts';
import { named, time, timeOf, timeOrNull, usdSum, usdText } from './values.ts';

const amount = z.union([z.number(), usdSum]);

const reachedLimit = named(
	'ReachedLimit',
	z.strictObject({
		kind: z.enum(limitKinds),
		limit: amount.describe('Requests or tokens as a number; US dollars as a decimal string.'),
		used: amount,
		reserved: amount.describe('Reserved by in-flight requests, in addition to `used`.'),
		resets_at: timeOrNull.describe('Time at which `used` becomes zero; null: never.'),
	}),
);

const targetAttempt = named(
	'TargetAttempt',
	z.strictObject({
		provider: z.string(),
		model: z.string(),
		status: z.int().nullable().describe('Status of the provider’s response; null: none.'),
		code: z.string().nullable().describe('Error code instead of a response; null: the provider responded.'),
		ms: z.number().describe('Time until the complete response, the start of a stream, or the failure.'),
	}),
);

export const requestEntry = named(
	'Request',
	z.strictObject({
		id: z.string().describe('`x-request-id` of the response.'),
		time: time.describe('Start of the request.'),
		endpoint: z.string(),
		team_id: z.string().nullable().describe('Null: the client was rejected because it is in no team.'),
		client_id: z.string(),
		model_requested: z.string().nullable().describe('Model name as received; null: the request was rejected before its body was read.'),
		model: z.string().nullable().describe('Model of the chosen target; null: none was chosen.'),
		provider: z.string().nullable(),
		status: z.int().describe('Status that the client received; 0: the gateway stopped before the response.'),
		code: z.string().nullable().describe('Error code; null: none.'),
		limit: reachedLimit.nullable().describe('Limit that rejected the request, with its numbers at that moment.'),
		allow_list: z.string().nullable().describe('List that allowed none of the targets, such as `teams.search.models.deny`; null: none.'),
		monitored: z
			.array(z.string())
			.describe('Effects of monitored policies that were not enforced: codes of rejections, `guardrail_masked` and `route_changed`.'),
		monitored_route: z
			.strictObject({ rule: z.string(), target: z.string().describe('`provider/model`.') })
			.nullable()
			.describe('First target that a monitored routing rule would have chosen. Null: no monitored rule would have decided.'),
		targets: z.array(targetAttempt).describe('Attempts in order, retries included.'),
		usage: tokens.nullable().describe('Null: nothing was charged.'),
		cost_usd: usdSum.nullable().describe('Null: nothing was charged.'),
		priced: z.boolean().describe('False: the model had no price; `cost_usd` is 0 or follows `budgets.default_rate`.'),
		estimated: z.boolean().describe('True: the provider did not report usage, and it was estimated.'),
		guardrails: z
			.enum(assessmentOutcomes)
			.nullable()
			.describe('Most severe guardrail outcome; `not_evaluated` also if the response was not evaluated. Null: guardrails did not run.'),
		attributes: z.record(z.string(), z.string()),
		stream: z.boolean().describe('True: the client requested a stream.'),
		request_bytes: z.int(),
		response_bytes: z.int(),
		duration_ms: z.number(),
		first_byte_ms: z.number().nullable().describe('Time until the provider’s first byte; null: none came.'),
	}),
);

export const requestList = named('RequestList', pageOf(requestEntry));

export type RequestBody = z.output<typeof requestEntry>;

export function requestBody(request: RecordedRequest, verdict: Verdict | undefined): RequestBody {
	const { usage, costNanoUsd } = request;
	return {
		id: request.id,
		time: timeOf(startedMsOf(request.id) ?? 0),
		endpoint: request.endpoint,
		team_id: request.team,
		client_id: request.clientId,
		model_requested: request.modelRequested,
		model: request.model,
		provider: request.provider,
		status: request.status,
		code: request.code,
		limit: request.limit === null ? null : limitBody(request.limit),
		allow_list: request.allowList,
		monitored: [...request.monitored],
		monitored_route: request.monitoredRoute === null ? null : routeBody(request.monitoredRoute),
		targets: request.targets.map(attemptBody),
		usage:
			usage === null
				? null
				: {
						input: usage.inputTokens,
						output: usage.outputTokens,
						cache_read: usage.cacheReadTokens,
						cache_write: usage.cacheWriteTokens,
						total: usage.inputTokens + usage.outputTokens + usage.cacheReadTokens + usage.cacheWriteTokens,
					},
		cost_usd: costNanoUsd === null ? null : usdText(costNanoUsd),
		priced: request.isPriced,
		estimated: request.isEstimated,
		guardrails: guardrailsOf(request, verdict),
		attributes: request.attributes,
		stream: request.isStreaming,
		request_bytes: request.requestBytes,
		response_bytes: request.responseBytes,
		duration_ms: request.durationMs,
		first_byte_ms: request.firstByteMs,
	};
}

function limitBody({ kind, limit, used, reserved, resetsAtMs }: ReachedLimit): z.output<typeof reachedLimit> {
	const shown = (value: number | bigint): number | string => (typeof value === 'bigint' ? usdText(value) : value);
	return {
		kind,
		limit: shown(limit),
		used: shown(used),
		reserved: shown(reserved),
		resets_at: resetsAtMs === null ? null : timeOf(resetsAtMs),
	};
}

function routeBody({ rule, provider, model }: RecordedRoute): { rule: string; target: string } {
	return { rule, target: `${provider}/${model}` };
}

function attemptBody({ provider, model, status, code, ms }: TargetAttempt): z.output<typeof targetAttempt> {
	return { provider, model, status, code, ms };
}

/** Returns the outcome; `not_evaluated` instead of clean or masked if the response was not evaluated, or not yet. */
function guardrailsOf({ outcome }: RecordedRequest, verdict: Verdict | undefined): Verdict['outcome'] | null {
	if (verdict === undefined) return null;
	const isNew = outcome === 'complete' && !verdict.hasOutput;
	return isNew && (verdict.outcome === 'clean' || verdict.outcome === 'masked') ? 'not_evaluated' : verdict.outcome;
}
