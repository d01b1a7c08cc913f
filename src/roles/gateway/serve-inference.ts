import type { HttpRequest, HttpResponse } from '../../core/handler.ts';
import { mayFallBack } from '../../policy/resilience/attempt-result.ts';
import type { ClientDialect } from '../../wire/dialects/dialect.ts';
import type { GatewayFacts } from './gateway-facts.ts';
import type { GatewayParts } from './gateway-parts.ts';
import type { OpenCall } from './open-calls.ts';
import { answer } from './stages/answer.ts';
import { callProvider, type Outcome, resultOf } from './stages/call-provider.ts';
import { chooseTargets } from './stages/choose-targets.ts';
import { identifyCaller } from './stages/identify-caller.ts';
import { noteTeam } from './stages/identify-team.ts';
import { readCall } from './stages/read-call.ts';
import { screenInput } from './stages/screen-input.ts';
import { screenOutput } from './stages/screen-output.ts';
import { type Taken, takeTarget } from './stages/take-target.ts';

/** The inference path: every decision about a call, in order. What it throws becomes the caller's error answer. */
export async function serveInference(
	request: HttpRequest,
	format: ClientDialect,
	facts: GatewayFacts,
	parts: GatewayParts,
): Promise<HttpResponse> {
	const { settings, work, guarding } = parts;
	// What is there already is not waited for, here and below: each wait costs more than most stages.
	const identified = identifyCaller(request, parts);
	const caller = identified instanceof Promise ? await identified : identified;
	const team = noteTeam(caller, facts, parts);
	const hold = work.bodySpace.hold(team.id, settings.maxBufferedRequestBytes);
	const reading = readCall(request, format, settings.maxBodyBytes, hold);
	const asked = reading instanceof Promise ? await reading : reading;
	facts.requestBytes = asked.body.bytes.length;
	facts.isStreamed = asked.isStreamed;
	const open = work.openCalls.open(request, facts, hold);
	let taken: Taken | undefined;
	let outcome: Outcome | undefined;
	try {
		const call = guarding === undefined ? asked : await screenInput(asked, team.id, guarding);
		const targets = chooseTargets(call, team.id, parts);
		for (const target of targets) {
			const taking = takeTarget(call, target, team, taken?.permit, target === targets.at(-1), open, parts);
			const next = taking instanceof Promise ? await taking : taking;
			if (next === undefined) continue;
			if (outcome !== undefined) noteFallback(open, taken, next, outcome, parts);
			taken = next;
			outcome = await callProvider(taken, open, parts);
			if (!mayFallBack(resultOf(outcome))) break;
		}
		if (taken === undefined || outcome === undefined) throw new Error('routing named no target');
		if (outcome instanceof Error) throw outcome;
		const answered = answer(taken.prepared, outcome, taken.permit, open, parts);
		const response = guarding === undefined ? answered : await screenOutput(call, team.id, answered, guarding);
		taken.permit.endMetered(response.status);
		return response;
	} catch (cause) {
		open.close();
		taken?.permit.endUnanswered(cause);
		throw cause;
	}
}

function noteFallback({ facts }: OpenCall, from: Taken | undefined, to: Taken, outcome: Outcome, { ports, traffic }: GatewayParts): void {
	// Of the target that failed.
	facts.upstreamStatus = undefined;
	const failed = from?.prepared.target;
	const bound = failed && traffic.get(failed.provider);
	if (failed === undefined || bound === undefined) return;
	bound.traffic.fallbacks++;
	const why = outcome instanceof Error ? outcome.code : outcome.response.status;
	const { provider, model } = to.prepared.target;
	ports.log.warn('call goes on to another target', {
		requestId: to.prepared.request.id,
		provider: failed.provider,
		model: failed.model,
		why,
		to: `${provider}/${model}`,
	});
}
