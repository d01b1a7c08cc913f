import { type ClientDialectName, clientDialectNames } from '../../core/dialect-name.ts';
import type { HttpRequest, HttpResponse } from '../../core/handler.ts';
import { Rejection } from '../../core/rejection.ts';
import type { Team } from '../../core/team.ts';
import { listedModels } from '../../policy/budgets/price-of.ts';
import type { ListedModel, ProviderModel } from '../../policy/routing/routing-settings.ts';
import type { Target } from '../../policy/routing/target.ts';
import { clientDialects } from '../../wire/dialects/dialects.ts';
import type { Provider } from '../../wire/providers/provider.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import { responseHeaders } from './gateway-headers.ts';
import type { RequestRecorder } from './request-scope/request-recorder.ts';
import { noteLimits } from './serve-limits.ts';
import { isAllowed } from './stages/allow-targets.ts';
import { identifyCaller, noteTeam } from './stages/identify-caller.ts';

const { chat, messages } = clientDialects;

export const modelPath = '/v1/models/';

/** Kinds of providers that serve models of any name, because the operator names them. */
const kindsOfAnyName: ReadonlySet<string> = new Set<Provider['kind']>(['azure-openai', 'openai-compatible']);

/**
 * Lists the models that this client may use, as far as their names are known. A request with Anthropic's version header gets Anthropic's
 * list. Others get OpenAI's, with Anthropic's members added.
 * @throws `Rejection` `field_invalid`
 */
export async function serveModels(request: HttpRequest, recorder: RequestRecorder, deps: GatewayDeps): Promise<HttpResponse> {
	const team = await enter(request, recorder, deps);
	const { routing, ports } = deps;
	const named = routing.modelsOf(team.id, ports.teams.routingRules(), pricedModels(deps));
	const all = allowedModels(named, team, deps).filter(({ target }) => isCallable(target, deps));
	const { models, hasMore } = pageOf(all, request.query);
	const page = { has_more: hasMore, first_id: models[0]?.id ?? null, last_id: models.at(-1)?.id ?? null };
	const data = models.map(rendererFor(request));
	if (isAnthropic(request)) return sendJson({ data, ...page }, request, recorder, deps);
	return sendJson({ object: 'list', data, ...page, ...(isCodex(request) && { models: [] }) }, request, recorder, deps);
}

/** Serves one model that the client may use, by the name after `/v1/models/`. @throws `Rejection` `model_unlisted` */
export async function serveModel(request: HttpRequest, recorder: RequestRecorder, deps: GatewayDeps): Promise<HttpResponse> {
	const team = await enter(request, recorder, deps);
	const id = decoded(request.path.slice(modelPath.length));
	const target = id === undefined ? undefined : findCallable(id, team, (isAnthropic(request) ? messages : chat).name, deps);
	if (id !== undefined && target !== undefined) return sendJson(rendererFor(request)({ id, target }), request, recorder, deps);
	throw new Rejection('model_unlisted', { param: 'model' });
}

/** Codex sends its version and expects descriptions of models in `models`. Without any it uses its own. */
function isCodex({ query }: HttpRequest): boolean {
	return new URLSearchParams(query).has('client_version');
}

async function enter(request: HttpRequest, recorder: RequestRecorder, deps: GatewayDeps): Promise<Team> {
	const team = noteTeam(await identifyCaller(request, deps), recorder, deps);
	await noteLimits(recorder, deps);
	return team;
}

/** Removes the models that the team may not use. A model with several targets stays with the first allowed one. */
function allowedModels(models: readonly ListedModel[], team: Team, deps: GatewayDeps): readonly ListedModel[] {
	if (deps.allowLists.of(team) === undefined) return models;
	const rules = deps.ports.teams.routingRules();
	return models.flatMap(({ id }) => {
		for (const format of clientDialectNames) {
			const facts = { format, model: id, team: team.id, stickyKey: '', rules };
			const found = deps.routing.findTarget(facts, (target) => isAllowed(id, target, team, deps));
			if (found?.isDefault === false) return [{ id, target: found.target }];
		}
		return [];
	});
}

/** Lists models of the price lists and of price overrides. Azure deployments have names of their own, which no list contains. */
function pricedModels({ providers, ports }: GatewayDeps): readonly ProviderModel[] {
	const listed = [...providers.values()].flatMap(({ name: provider, kind }) =>
		kindsOfAnyName.has(kind) ? [] : listedModels(kind).map((model) => ({ provider, model })),
	);
	return [...listed, ...ports.teams.overriddenModels()];
}

/** Finds the target of a model. If only the format's default would serve it, it needs a price or a provider that serves any name. */
function findCallable(model: string, team: Team, format: ClientDialectName, deps: GatewayDeps): Target | undefined {
	const { routing, ports, providers } = deps;
	const facts = { format, model, team: team.id, stickyKey: '', rules: ports.teams.routingRules() };
	const found = routing.findTarget(facts, (target) => isAllowed(model, target, team, deps));
	if (found === undefined || !isCallable(found.target, deps)) return undefined;
	const provider = providers.get(found.target.provider);
	const isKnown = !found.isDefault || (provider !== undefined && kindsOfAnyName.has(provider.kind)) || hasPrice(found.target, deps);
	return isKnown ? found.target : undefined;
}

/** Returns true if the provider has a key, and the model a price or permission to be unpriced. */
function isCallable(target: Target, deps: GatewayDeps): boolean {
	return deps.providers.get(target.provider)?.isConfigured === true && priceOf(target, deps) !== undefined;
}

function hasPrice(target: Target, deps: GatewayDeps): boolean {
	return priceOf(target, deps)?.isUnknown === false;
}

function priceOf(target: Target, { providers, prices, modelCapabilities, ports }: GatewayDeps): ReturnType<typeof prices.priceOf> {
	const provider = providers.get(target.provider);
	if (provider === undefined) return undefined;
	return prices.priceOf(provider, target.model, ports.clock.nowMs(), modelCapabilities.of(target).knownAs ?? target.model);
}

function decoded(name: string): string | undefined {
	try {
		return decodeURIComponent(name);
	} catch {
		return undefined;
	}
}

function sendJson(body: object, request: HttpRequest, recorder: RequestRecorder, { ports }: GatewayDeps): HttpResponse {
	const headers = { ...responseHeaders(request, recorder, ports.clock), 'content-type': 'application/json' };
	return { status: 200, headers, body: JSON.stringify(body), record: recorder.record };
}

function isAnthropic({ headers }: HttpRequest): boolean {
	return headers['anthropic-version'] !== undefined || headers['provider-a-version'] !== undefined;
}

function rendererFor(request: HttpRequest): (model: ListedModel) => object {
	return isAnthropic(request) ? anthropicModel : (model) => ({ ...openaiModel(model), ...anthropicModel(model) });
}

/** Uses 0 for the creation time, which is unknown. */
function openaiModel({ id, target }: ListedModel): object {
	return { id, object: 'model', created: 0, owned_by: target.provider };
}

function anthropicModel({ id }: ListedModel): object {
	return { type: 'model', id, display_name: id, created_at: '1970-01-01T00:00:00Z' };
}

/** Also the default, so that clients that read one page find every model. */
const maxLimit = 1000;

/** One page of a list, in its order. */
export interface ModelPage<Model> {
	readonly models: readonly Model[];
	/** True if more models follow; with `before_id`, if more precede. */
	readonly hasMore: boolean;
}

/** Returns the page for `limit`, `after_id` and `before_id` of a query. @throws `Rejection` `field_invalid` */
export function pageOf<Model extends { readonly id: string }>(all: readonly Model[], query: string): ModelPage<Model> {
	const requested = new URLSearchParams(query);
	const limit = limitOf(requested.get('limit'));
	const [afterId, beforeId] = [requested.get('after_id'), requested.get('before_id')];
	if (beforeId !== null && afterId !== null) throw invalid('before_id', '`before_id` and `after_id` exclude each other: send one of them');
	if (beforeId !== null) {
		const end = indexOf(beforeId, 'before_id', all);
		const start = Math.max(0, end - limit);
		return { models: all.slice(start, end), hasMore: start > 0 };
	}
	const start = afterId === null ? 0 : indexOf(afterId, 'after_id', all) + 1;
	return { models: all.slice(start, start + limit), hasMore: start + limit < all.length };
}

function limitOf(text: string | null): number {
	if (text === null) return maxLimit;
	const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
	if (limit < 1 || limit > maxLimit) throw invalid('limit', `\`limit\` must be a whole number from 1 to ${maxLimit}`);
	return limit;
}

function indexOf(id: string, param: string, all: readonly { readonly id: string }[]): number {
	const index = all.findIndex((model) => model.id === id);
	if (index === -1) throw invalid(param, `\`${param}\` is not a model of the list: omit it to start again`);
	return index;
}

function invalid(param: string, message: string): Rejection {
	return new Rejection('field_invalid', { param, message });
}
