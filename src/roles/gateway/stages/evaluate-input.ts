import { Rejection } from '../../../core/rejection.ts';
import type { Screening } from '../../../policy/guardrails/text-evaluation.ts';
import { parseBody } from '../../../wire/json/parse-body.ts';
import { repeatedMemberSteps } from '../../../wire/json/repeated-member.ts';
import { spliceBody } from '../../../wire/json/splice-body.ts';
import { textEdits } from '../../../wire/text-edits.ts';
import type { TextView } from '../../../wire/text-view.ts';
import { type Guarding, maskedTexts } from '../guardrail-runner.ts';
import { type Call, inTurns, placedMembers } from './read-inference-request.ts';

/** Limits names in errors, because a name from the client can be as long as the body. */
const longestParam = 200;

/**
 * Runs guardrails on the client's input, before translation and before any limit is reserved.
 * @returns the request with masked text replaced.
 * @throws `Rejection` `guardrail_blocked`; `field_invalid` for a repeated member.
 */
export async function screenInput(call: Call, team: string, guarding: Guarding): Promise<Call> {
	const guarded = { requestId: call.request.id, team };
	const view = call.format.textViews.request(call.body.members);
	if (!guarding.isEnforced) {
		guarding.observe(guarded, 'input', view);
		return call;
	}
	await requireSingleMembers(call);
	return withMasks(call, view, await guarding.screen(guarded, 'input', view));
}

/**
 * Rejects repeated members, because a provider may use the one that was not evaluated.
 * @throws `Rejection` `field_invalid` with the member's path.
 */
export async function requireSingleMembers({ body: { bytes } }: Call): Promise<void> {
	const param = (await inTurns(bytes.length, repeatedMemberSteps(bytes)))?.slice(0, longestParam);
	if (param === undefined) return;
	throw new Rejection('field_invalid', { message: `The body has \`${param}\` more than once: send each field once`, param });
}

/** Returns the request with masked text replaced; the same object if there is none. */
export function withMasks(call: Call, view: TextView, screening: Screening): Call {
	const changes = maskedTexts(view, screening);
	if (changes.length === 0) return call;
	const bytes = spliceBody(call.body.bytes, textEdits(call.body.bytes, changes));
	return { ...call, body: parseBody(bytes, placedMembers) };
}
