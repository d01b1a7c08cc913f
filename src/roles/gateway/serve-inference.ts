import type { HttpRequest, HttpResponse } from '../../core/handler.ts';
import { canFailOver } from '../../policy/resilience/attempt-result.ts';
import type { Endpoint } from '../../wire/endpoints/endpoint.ts';
import { BackgroundRequest, takeBackgroundSlot } from './background/background-request.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import { ownedIdsOf } from './owned-ids.ts';
import { guardedRequest } from './request-scope/guarded-request.ts';
import { monitorEffect } from './request-scope/monitor-effect.ts';
import type { RequestScope } from './request-scope/request-scope.ts';
import { chooseTargets } from './stages/choose-targets.ts';
import { evaluateInput } from './stages/evaluate-input.ts';
import { evaluateOutput } from './stages/evaluate-output.ts';
import { findStored } from './stages/find-stored.ts';
import { identifyCaller, noteAttributes, noteTeam } from './stages/identify-caller.ts';
import { monitorRouting } from './stages/monitor-routing.ts';
import { readInferenceRequest } from './stages/read-inference-request.ts';
import { fitResponse, readObject, respond } from './stages/respond.ts';
import { type Outcome, resultOf, sendToProvider } from './stages/send-to-provider.ts';
import { substituteFor } from './stages/substitute-model.ts';
import { type Taken, takeTarget } from './stages/take-target.ts';

const none: readonly never[] = [];

/**
 * Runs the inference path of all endpoints: every decision about a request, in order. A thrown error ends the scope and becomes the
 * client's error response.
 */
export async function serveInference(
	request: HttpRequest,
	endpoint: Endpoint,
	scope: RequestScope,
	deps: GatewayDeps,
): Promise<HttpResponse> {
	const { settings, work, guardrailRunner } = deps;
	scope.recorder.enterEndpoint(endpoint.path);
	for (const code of request.monitored ?? none) monitorEffect(code, scope.recorder, deps);
	// Avoids promises for values that are available, here and below, because each await costs more than most stages.
	const identified = identifyCaller(request, deps);
	const caller = identified instanceof Promise ? await identified : identified;
	const team = noteTeam(caller, scope.recorder, deps);
	noteAttributes(request, caller, scope.recorder, deps);
	const bodyMemory = work.bodyMemory.reserve(team.id, settings.maxBufferedRequestBytes);
	scope.attach(bodyMemory);
	const reading = readInferenceRequest(request, endpoint, settings, bodyMemory);
	const requested = reading instanceof Promise ? await reading : reading;
	scope.recorder.readBody(requested.body.bytes.length, endpoint.canStream ? requested.isStreaming : undefined, requested.model);
	work.inFlightRequests.add(scope, request);
	const slot = takeBackgroundSlot(requested, scope, deps);
	const finding = findStored(requested, team, deps);
	const stored = finding === undefined ? undefined : await finding;
	const inferenceRequest =
		guardrailRunner === undefined
			? requested
			: await evaluateInput(requested, guardedRequest(request.id, team.id, scope.recorder, deps), guardrailRunner);
	let served = inferenceRequest;
	let targets = chooseTargets(served, team, deps, stored, scope.recorder);
	monitorRouting(served, team.id, stored, scope.recorder, deps);
	let taken: Taken | undefined;
	let outcome: Outcome | undefined;
	for (let index = 0; index < targets.length; index++) {
		const target = targets[index];
		if (target === undefined) break;
		let next: Taken | undefined;
		try {
			const taking = takeTarget(served, target, team, taken?.permit, target === targets.at(-1), scope, deps);
			next = taking instanceof Promise ? await taking : taking;
		} catch (cause) {
			const substitute = taken === undefined && stored === undefined ? substituteFor(cause, served) : undefined;
			if (substitute === undefined) throw cause;
			served = substitute;
			targets = chooseTargets(served, team, deps, undefined, scope.recorder);
			index = -1;
			continue;
		}
		if (next === undefined) continue;
		if (outcome !== undefined) countFailover(scope, taken, next, outcome, deps);
		taken = next;
		outcome = await sendToProvider(taken, scope, deps);
		if (!canFailOver(resultOf(outcome))) break;
	}
	if (taken === undefined || outcome === undefined) throw new Error('routing named no target');
	if (outcome instanceof Error) throw outcome;
	const ownedIds = ownedIdsOf(taken.prepared, scope, deps);
	const background = slot === undefined ? undefined : new BackgroundRequest(slot, taken, deps);
	const permit = background?.followResponse(outcome) ?? taken.permit;
	const responded = respond(taken.prepared, outcome, permit, scope, deps, { ownedIds, background });
	const response = endpoint.dialect.fitResponse === undefined ? responded : await fitResponse(taken.prepared, responded);
	if (ownedIds !== undefined && outcome.reported !== undefined && Buffer.isBuffer(outcome.body)) {
		const body = readObject(outcome.body);
		if (body !== undefined) await ownedIds.pushResponse(body);
	}
	if (guardrailRunner === undefined) return response;
	const guarded = guardedRequest(request.id, team.id, scope.recorder, deps);
	return evaluateOutput(inferenceRequest, guarded, response, scope.recorder, guardrailRunner);
}

function countFailover(
	{ recorder }: RequestScope,
	from: Taken | undefined,
	to: Taken,
	outcome: Outcome,
	{ ports, traffic }: GatewayDeps,
): void {
	recorder.failOver();
	const failed = from?.prepared.target;
	const bound = failed && traffic.get(failed.provider);
	if (failed === undefined || bound === undefined) return;
	bound.traffic.fallbacks++;
	const reason = outcome instanceof Error ? outcome.code : outcome.response.status;
	const { provider, model } = to.prepared.target;
	ports.log.warn('failover to the next target', {
		requestId: to.prepared.request.id,
		provider: failed.provider,
		model: failed.model,
		reason,
		to: `${provider}/${model}`,
	});
}
