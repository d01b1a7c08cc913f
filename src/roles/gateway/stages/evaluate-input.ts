import { Rejection } from '../../../core/rejection.ts';
import type { TextEvaluation } from '../../../policy/guardrails/text-evaluation.ts';
import { parseBody } from '../../../wire/json/parse-body.ts';
import { repeatedMemberSteps } from '../../../wire/json/repeated-member.ts';
import { spliceBody } from '../../../wire/json/splice-body.ts';
import type { TextView } from '../../../wire/text-view.ts';
import type { GuardedRequest, GuardrailRunner } from '../guardrail-runner.ts';
import { maskEdits, maskedTexts } from '../mask-edits.ts';
import { type InferenceRequest, locatedMembers, runCooperatively } from './read-inference-request.ts';

/** Limits names in errors, because a name from the client can be as long as the body. */
const maxParamLength = 200;

/**
 * Runs guardrails on the client's input, before translation and before any limit is reserved.
 * @returns the request with masked text replaced.
 * @throws `Rejection` `guardrail_blocked`; `field_invalid` for a repeated member.
 */
export async function evaluateInput(
	inferenceRequest: InferenceRequest,
	guarded: GuardedRequest,
	guardrailRunner: GuardrailRunner,
): Promise<InferenceRequest> {
	const view = inferenceRequest.format.textViews.request(inferenceRequest.body.members);
	if (!guardrailRunner.isEnforced(guarded.team)) {
		guardrailRunner.observe(guarded, 'input', view);
		return inferenceRequest;
	}
	await requireSingleMembers(inferenceRequest);
	return withMasks(inferenceRequest, view, await guardrailRunner.enforce(guarded, 'input', view));
}

/**
 * Rejects repeated members, because a provider may use the one that was not evaluated.
 * @throws `Rejection` `field_invalid` with the member's path.
 */
export async function requireSingleMembers({ body: { bytes } }: InferenceRequest): Promise<void> {
	const param = (await runCooperatively(bytes.length, repeatedMemberSteps(bytes)))?.slice(0, maxParamLength);
	if (param === undefined) return;
	throw new Rejection('field_invalid', { message: `The body has \`${param}\` more than once: send each field once`, param });
}

/** Returns the request with masked text replaced; the same object if there is none. */
export function withMasks(inferenceRequest: InferenceRequest, view: TextView, evaluation: TextEvaluation): InferenceRequest {
	const changes = maskedTexts(view, evaluation);
	if (changes.length === 0) return inferenceRequest;
	const { bytes, members } = inferenceRequest.body;
	const masked = spliceBody(bytes, maskEdits(bytes, members, changes));
	return { ...inferenceRequest, body: parseBody(masked, locatedMembers) };
}
