import type { HttpRequest, HttpResponse } from '../../core/handler.ts';
import type { RecordedRouting } from '../../core/request-record.ts';
import type { Team } from '../../core/team.ts';
import { canFailOver } from '../../policy/resilience/attempt-result.ts';
import type { Target, Targets } from '../../policy/routing/target.ts';
import type { Endpoint } from '../../wire/endpoints/endpoint.ts';
import { BackgroundRequest, takeBackgroundSlot } from './background/background-request.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import { ownedIdsOf } from './owned-ids.ts';
import { guardedRequest } from './request-scope/guarded-request.ts';
import { monitorEffect } from './request-scope/monitor-effect.ts';
import type { RequestRecorder } from './request-scope/request-recorder.ts';
import type { RequestScope } from './request-scope/request-scope.ts';
import { chooseTargets, isFirstChoice, providerHeaderOf } from './stages/choose-targets.ts';
import { evaluateInput } from './stages/evaluate-input.ts';
import { evaluateOutput } from './stages/evaluate-output.ts';
import { findStored } from './stages/find-stored.ts';
import { identifyCaller, noteAttributes, noteTeam } from './stages/identify-caller.ts';
import { monitorRouting } from './stages/monitor-routing.ts';
import { type InferenceRequest, readInferenceRequest } from './stages/read-inference-request.ts';
import { sizeOfReceived } from './stages/request-size.ts';
import { fitResponse, readObject, respond } from './stages/respond.ts';
import { type Outcome, resultOf, sendToProvider } from './stages/send-to-provider.ts';
import { type Taken, takeTarget } from './stages/take-target.ts';
import { TargetPlan } from './stages/target-plan.ts';

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
	const plan = planTargets(inferenceRequest, stored, team, scope.recorder, deps);
	monitorRouting(inferenceRequest, team.id, stored, scope.recorder, deps);
	let taken: Taken | undefined;
	let outcome: Outcome | undefined;
	for (let target = plan.next(); target !== undefined; target = plan.next()) {
		let next: Taken | undefined;
		try {
			const taking = takeTarget(plan.served, target, team, taken?.permit, plan.isLast(target), scope, deps);
			next = taking instanceof Promise ? await taking : taking;
		} catch (cause) {
			if (taken !== undefined || stored !== undefined || !plan.substitute(cause)) throw cause;
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

/** @throws errors of `chooseTargets`. */
function planTargets(
	inferenceRequest: InferenceRequest,
	stored: Target | undefined,
	team: Team,
	recorder: RequestRecorder,
	deps: GatewayDeps,
): TargetPlan<InferenceRequest> {
	try {
		const plan = new TargetPlan(inferenceRequest, (request) => chooseTargets(request, team, deps, stored, recorder));
		const routing = routingOf(inferenceRequest, plan.targets, stored, team, deps);
		if (routing !== undefined) recorder.route(routing);
		return plan;
	} catch (cause) {
		// A replay may admit what is rejected here.
		recorder.measure(sizeOfReceived(inferenceRequest));
		throw cause;
	}
}

/** @returns undefined for the usual case. */
function routingOf(
	inferenceRequest: InferenceRequest,
	targets: Targets,
	stored: Target | undefined,
	team: Team,
	deps: GatewayDeps,
): RecordedRouting | undefined {
	const { session = null, request } = inferenceRequest;
	const providerHeader = providerHeaderOf(request.headers) ?? null;
	const isPinned = stored !== undefined;
	const isDiverted = !isPinned && targets.length > 1 && !isFirstChoice(inferenceRequest, targets[0], team, deps);
	if (session === null && providerHeader === null && !isPinned && !isDiverted) return undefined;
	return { session, providerHeader, isPinned, isDiverted };
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
