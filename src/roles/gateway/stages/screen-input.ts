import type { Screening } from '../../../policy/guardrails/screening.ts';
import { parseBody } from '../../../wire/json/parse-body.ts';
import { spliceBody } from '../../../wire/json/splice-body.ts';
import { textEdits } from '../../../wire/text-edits.ts';
import type { TextView } from '../../../wire/text-view.ts';
import type { GatewayParts } from '../gateway-parts.ts';
import { maskedTexts } from './masked-texts.ts';
import { type Call, placedMembers } from './read-call.ts';

/**
 * Guardrails on what the caller says, as it said it: before translation, and before anything is taken from the team's limits.
 * @returns the call, with what is masked replaced.
 * @throws Refusal `guardrail_blocked`.
 */
export async function screenInput(call: Call, team: string, { guarding }: GatewayParts): Promise<Call> {
	if (guarding === undefined) return call;
	const guarded = { requestId: call.request.id, team };
	const view = call.format.textViews.request(call.body.members);
	if (!guarding.isEnforced) {
		guarding.observe(guarded, 'input', view);
		return call;
	}
	return withMasks(call, view, await guarding.screen(guarded, 'input', view));
}

/** The call with what is masked replaced; the same one when nothing is. */
export function withMasks(call: Call, view: TextView, screening: Screening): Call {
	const changes = maskedTexts(view, screening);
	if (changes.length === 0) return call;
	const bytes = spliceBody(call.body.bytes, textEdits(call.body.bytes, changes));
	return { ...call, body: parseBody(bytes, placedMembers) };
}
