import type { RateLimit } from '../../../core/counters.ts';
import { Rejection } from '../../../core/rejection.ts';
import type { Team } from '../../../core/team.ts';
import { UpstreamError } from '../../../core/upstream-error.ts';
import { limitOf } from '../../../policy/limits/rate-limits.ts';
import type { Target } from '../../../policy/routing/target.ts';
import type { OwnLimit } from '../../../wire/endpoints/endpoint.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { BilledPermit } from '../request-scope/billed-permit.ts';
import { FreePermit, type Permit } from '../request-scope/permit.ts';
import type { RequestScope } from '../request-scope/request-scope.ts';
import { noteLimits } from '../serve-limits.ts';
import { admitRequest, takeLimits } from './admit-request.ts';
import { isFirstChoice } from './choose-targets.ts';
import { type PreparedRequest, passOn, preparingSteps } from './prepare-request.ts';
import { type InferenceRequest, runCooperatively } from './read-inference-request.ts';
import type { RequestedLimits } from './resolve-admission-terms.ts';

/** A request that may be sent to its target. */
export interface Taken {
	readonly prepared: PreparedRequest;
	readonly permit: Permit;
}

const none: readonly string[] = [];

/**
 * Prepares and admits the request for one target, as if it were the only one.
 * @param before permit of the previous target, which failed.
 * @returns undefined to skip this target, if there was one before or will be one after.
 * @throws errors of `preparingSteps` and `admitRequest`.
 */
export function takeTarget(
	inferenceRequest: InferenceRequest,
	target: Target,
	team: Team,
	before: Permit | undefined,
	isLast: boolean,
	scope: RequestScope,
	deps: GatewayDeps,
): Taken | undefined | Promise<Taken | undefined> {
	const { recorder } = scope;
	const { targetFields } = recorder;
	const warnings = inferenceRequest.substitution === undefined ? none : [inferenceRequest.substitution.warning];
	recorder.targetFields = { provider: target.provider, model: target.model, warnings };
	const admit = (prepared: PreparedRequest): Taken | Promise<Taken> => {
		recorder.warn(prepared.warnings);
		scope.requireRunning();
		const permit = admitted(prepared, team, before, scope, deps);
		return permit instanceof Promise ? permit.then((later) => ({ prepared, permit: later })) : { prepared, permit };
	};
	const passOver = (cause: unknown): undefined => {
		scope.requireRunning();
		if (!canSkip(cause, before !== undefined, isLast, () => isFirstChoice(inferenceRequest, target, team, deps))) throw cause;
		deps.ports.log.warn('target skipped', {
			requestId: inferenceRequest.request.id,
			provider: target.provider,
			model: target.model,
			code: cause.code,
			message: cause.message,
		});
		recorder.targetFields = targetFields;
	};
	try {
		const prepared =
			passOn(inferenceRequest, target, team.id, deps) ??
			runCooperatively(inferenceRequest.body.bytes.length, preparingSteps(inferenceRequest, target, team.id, deps));
		const taken = prepared instanceof Promise ? prepared.then(admit) : admit(prepared);
		return taken instanceof Promise ? taken.catch(passOver) : taken;
	} catch (cause) {
		return passOver(cause);
	}
}

function admitted(
	inferenceRequest: PreparedRequest,
	team: Team,
	before: Permit | undefined,
	scope: RequestScope,
	deps: GatewayDeps,
): Permit | Promise<Permit> {
	const { bills } = inferenceRequest.endpoint;
	// A free request is free at any target.
	if (bills !== 'usage') return before ?? admitFreeRequest(inferenceRequest, bills, team, scope, deps);
	return admitRequest(inferenceRequest, team, scope, deps, before instanceof BilledPermit ? before : undefined);
}

/**
 * Decides whether a rejection only skips its target. A rejection of the preferred target is the client's response. After a failed target,
 * that failure stays the response. A fallback for an ejected target leaves the request to the targets after it.
 */
export function canSkip(cause: unknown, hasBefore: boolean, isLast: boolean, isFirst: () => boolean): cause is Rejection | UpstreamError {
	if (cause instanceof UpstreamError) return cause.code === 'provider_key_unset' && (hasBefore || !isLast);
	return cause instanceof Rejection && (hasBefore || (!isLast && !isFirst()));
}

/** Counts the request toward the endpoint's own limit. @throws LimitRejection */
async function admitFreeRequest(
	{ request: { id }, target }: PreparedRequest,
	limit: OwnLimit,
	team: Team,
	scope: RequestScope,
	deps: GatewayDeps,
): Promise<FreePermit> {
	const counter = await takeFreeLimits(id, target.model, limit, team, scope, deps);
	const permit = new FreePermit({ id, team: team.id, counter }, scope, deps);
	await noteLimits(scope.recorder, deps);
	return permit;
}

/**
 * Counts a request toward the own limit of its endpoint.
 * @param model empty if it is unknown.
 * @returns the counter, which has a name that no registered team has.
 * @throws LimitRejection
 */
export async function takeFreeLimits(
	id: string,
	model: string,
	limit: OwnLimit,
	team: Team,
	scope: RequestScope,
	deps: GatewayDeps,
): Promise<string> {
	const { name, limits } = freeLimits(limit, team, model, deps);
	const entry = { id, team: name };
	try {
		await takeLimits(entry, limits, deps.settings.timeouts.totalMs, scope.recorder, deps);
	} finally {
		// The response reports the team's own limits.
		scope.recorder.limits = undefined;
	}
	return entry.team;
}

/** Returns the own limit of an endpoint, and the name of its counter, which no registered team has. */
export function freeLimits(
	{ counter, requestsFactor }: OwnLimit,
	team: Team,
	model: string,
	deps: GatewayDeps,
): { readonly name: string; readonly limits: RequestedLimits } {
	const { tier, limits } = deps.terms.termsOf(team, [], deps.ports.clock.nowMs());
	const requestsPerMinute = limitOf(limits, 'rpm');
	const ofCounter: readonly RateLimit[] = requestsPerMinute === null ? [] : [{ kind: 'rpm', limit: requestsPerMinute * requestsFactor }];
	const terms = { tier, limits: ofCounter, monitored: [], budgets: [] };
	const typical = deps.work.typical.of(team.id, model);
	return { name: `:${counter}:${team.id}`, limits: { terms, reservations: [], reservedTokens: 0, typical } };
}
