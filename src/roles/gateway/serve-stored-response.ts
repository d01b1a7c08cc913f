import type { HttpRequest, HttpResponse } from '../../core/handler.ts';
import type { Team } from '../../core/team.ts';
import type { ResponseOwner } from '../../stores/contracts/response-owners.ts';
import { clientDialects } from '../../wire/dialects/dialects.ts';
import { isPathId, ownLimit, type StoredResponseRequest } from '../../wire/endpoints/stored-responses.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import { OwnedIds } from './owned-ids.ts';
import { guardedRequest } from './request-scope/guarded-request.ts';
import { FreeStreamPermit } from './request-scope/permit.ts';
import type { RequestScope } from './request-scope/request-scope.ts';
import { noteLimits } from './serve-limits.ts';
import { allowTargets } from './stages/allow-targets.ts';
import { evaluateOutput } from './stages/evaluate-output.ts';
import { responseNotFound } from './stages/find-stored.ts';
import { identifyCaller, noteAttributes, noteTeam } from './stages/identify-caller.ts';
import type { PreparedRequest } from './stages/prepare-request.ts';
import { prepareStored } from './stages/prepare-stored.ts';
import { readObject, respond } from './stages/respond.ts';
import { sendToProvider } from './stages/send-to-provider.ts';
import { takeFreeLimits } from './stages/take-target.ts';

const { responses: format } = clientDialects;

/** Name of the id in errors. */
const param = 'response_id';

/**
 * Serves a request about a stored response of the client's team, at the provider that stores it. It is free, and not retried.
 * @param id as in the path.
 * @throws `Rejection` `response_not_found`, `model_not_allowed`; LimitRejection; `UpstreamError` `records_unavailable`, `provider_*`.
 */
export async function serveStoredResponse(
	request: HttpRequest,
	stored: StoredResponseRequest,
	id: string,
	scope: RequestScope,
	deps: GatewayDeps,
): Promise<HttpResponse> {
	const { recorder } = scope;
	const caller = await identifyCaller(request, deps);
	const team = noteTeam(caller, recorder, deps);
	noteAttributes(request, caller, recorder, deps);
	deps.work.inFlightRequests.add(scope, request);
	const counter = await takeFreeLimits(request.id, '', ownLimit, team, scope, deps);
	const permit = new FreeStreamPermit({ id: request.id, team: team.id, counter }, format.usage, scope, deps);
	await noteLimits(recorder, deps);
	const owner = await findOwner(id, team, deps);
	scope.requireRunning();
	const prepared = prepareStored(request, stored, id, owner, deps);
	allowTargets(owner.model, [prepared.target], team, deps, recorder);
	recorder.targetFields = { provider: owner.provider, model: owner.model, warnings: [] };
	recorder.readBody(0, stored.canStream ? prepared.isStreaming : undefined);
	const followed = deps.work.background.find(owner.provider, id);
	if (followed !== undefined && stored.method === 'DELETE') {
		// Its cost cannot be read afterwards.
		await followed.check();
		scope.requireRunning();
	}
	const outcome = await sendToProvider({ prepared, permit }, scope, deps);
	if (stored.method !== 'GET') void followed?.check();
	if (outcome instanceof Error) throw outcome;
	if (outcome.response.status === 404) throw responseNotFound(id, param);
	if (stored.method === 'DELETE' && outcome.response.status < 300) await forget(id, request, deps);
	const response = respond(prepared, outcome, permit, scope, deps);
	await noteItems(prepared, owner, response, deps);
	if (deps.guardrailRunner === undefined) return response;
	return evaluateOutput(prepared, guardedRequest(request.id, team.id, recorder, deps), response, recorder, deps.guardrailRunner);
}

/** @throws `Rejection` `response_not_found`, also without state and for a provider that is not configured any more. */
async function findOwner(id: string, team: Team, { settings, ports, routing, providers }: GatewayDeps): Promise<ResponseOwner> {
	if (settings.responses?.state !== 'owner' || !isPathId(id)) throw responseNotFound(id, param);
	const owner = (await ports.responseOwners.find([id])).get(id);
	const target = owner?.team === team.id ? routing.targetOf(owner) : undefined;
	const isServed = target !== undefined && providers.get(target.provider)?.protocol.apis[format.name] !== undefined;
	if (owner === undefined || !isServed) throw responseNotFound(id, param);
	return owner;
}

/** The provider has deleted the response, so an id that stays is unknown there. */
async function forget(id: string, request: HttpRequest, { ports }: GatewayDeps): Promise<void> {
	try {
		await ports.responseOwners.forget(id);
	} catch (cause) {
		ports.log.warn('the owner of a deleted response could not be removed', { requestId: request.id, cause });
	}
}

/** Stores the owner of the items in a page: clients may refer to their own messages too, whose ids no response contains. */
async function noteItems(
	{ request, endpoint }: PreparedRequest,
	owner: ResponseOwner,
	{ status, body }: HttpResponse,
	deps: GatewayDeps,
): Promise<void> {
	if (status !== 200 || !endpoint.path.endsWith('/input_items') || !Buffer.isBuffer(body) || format.state === undefined) return;
	const page = readObject(body);
	if (page !== undefined) await new OwnedIds(format.state, owner, request.id, deps).pushResponse(page);
}
