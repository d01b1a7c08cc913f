import type { ClientDialectName } from '../../core/dialect-name.ts';
import type { HttpRequest, HttpResponse } from '../../core/handler.ts';
import { Refusal } from '../../core/refusal.ts';
import { listedModels } from '../../policy/budgets/price-of.ts';
import type { ListedModel, ProviderModel } from '../../policy/routing/routing-settings.ts';
import type { Target } from '../../policy/routing/target.ts';
import { clientDialects } from '../../wire/dialects/dialects.ts';
import type { Provider } from '../../wire/providers/provider.ts';
import { answerHeaders } from './answer-headers.ts';
import type { RequestRecord } from './call/request-record.ts';
import type { GatewayParts } from './gateway-parts.ts';
import { noteLimits } from './serve-limits.ts';
import { identifyCaller, noteTeam } from './stages/identify-caller.ts';

const { chat, messages } = clientDialects;

export const modelPath = '/v1/models/';

/** Providers of these kinds serve models of any name: what runs there is the operator's. */
const kindsOfAnyName: ReadonlySet<string> = new Set<Provider['kind']>(['azure-openai', 'openai-compatible']);

/**
 * The models that this caller may use, as far as their names are known: Anthropic's list for a request with its version header, else one
 * that is OpenAI's and has Anthropic's members too.
 * @throws Refusal `field_invalid`
 */
export async function serveModels(request: HttpRequest, record: RequestRecord, parts: GatewayParts): Promise<HttpResponse> {
	const team = await enter(request, record, parts);
	const { routing, ports } = parts;
	const all = routing.modelsOf(team, ports.teams.routingRules(), pricedModels(parts)).filter(({ target }) => isCallable(target, parts));
	const { models, hasMore } = pageOf(all, request.query);
	const page = { has_more: hasMore, first_id: models[0]?.id ?? null, last_id: models.at(-1)?.id ?? null };
	const data = models.map(rendererFor(request));
	return answerJson(isAnthropic(request) ? { data, ...page } : { object: 'list', data, ...page }, request, record, parts);
}

/** Any model that can be called, by the name behind `/v1/models/`. @throws Refusal `model_unlisted` */
export async function serveModel(request: HttpRequest, record: RequestRecord, parts: GatewayParts): Promise<HttpResponse> {
	const team = await enter(request, record, parts);
	const id = decoded(request.path.slice(modelPath.length));
	const target = id === undefined ? undefined : findCallable(id, team, (isAnthropic(request) ? messages : chat).name, parts);
	if (id !== undefined && target !== undefined) return answerJson(rendererFor(request)({ id, target }), request, record, parts);
	throw new Refusal('model_unlisted', { param: 'model' });
}

/** @returns the team's id. */
async function enter(request: HttpRequest, record: RequestRecord, parts: GatewayParts): Promise<string> {
	const team = noteTeam(await identifyCaller(request, parts), record, parts);
	await noteLimits(record, parts);
	return team.id;
}

/** Of the price lists and of operators' own prices. Azure's deployments have names of their own, so a list says nothing of them. */
function pricedModels({ providers, ports }: GatewayParts): readonly ProviderModel[] {
	const listed = [...providers.values()].flatMap(({ name: provider, kind }) =>
		kindsOfAnyName.has(kind) ? [] : listedModels(kind).map((model) => ({ provider, model })),
	);
	return [...listed, ...ports.teams.overriddenModels()];
}

/** What only the format's default would serve is known where it has a price, or where any name may be served. */
function findCallable(model: string, team: string, format: ClientDialectName, parts: GatewayParts): Target | undefined {
	const { routing, ports, providers } = parts;
	const found = routing.findTarget({ format, model, team, stickyKey: '', rules: ports.teams.routingRules() });
	if (found === undefined || !isCallable(found.target, parts)) return undefined;
	const provider = providers.get(found.target.provider);
	const isKnown = !found.isDefault || (provider !== undefined && kindsOfAnyName.has(provider.kind)) || hasPrice(found.target, parts);
	return isKnown ? found.target : undefined;
}

/** Its provider has a key, and it is not without a price where that is refused. */
function isCallable(target: Target, parts: GatewayParts): boolean {
	return parts.providers.get(target.provider)?.isConfigured === true && priceOf(target, parts) !== undefined;
}

function hasPrice(target: Target, parts: GatewayParts): boolean {
	return priceOf(target, parts)?.isUnknown === false;
}

function priceOf(target: Target, { providers, prices, modelFacts, ports }: GatewayParts): ReturnType<typeof prices.priceOf> {
	const provider = providers.get(target.provider);
	if (provider === undefined) return undefined;
	return prices.priceOf(provider, target.model, ports.clock.nowMs(), modelFacts.of(target).knownAs ?? target.model);
}

function decoded(name: string): string | undefined {
	try {
		return decodeURIComponent(name);
	} catch {
		return undefined;
	}
}

function answerJson(body: object, request: HttpRequest, record: RequestRecord, { ports }: GatewayParts): HttpResponse {
	const headers = { ...answerHeaders(request, record, ports.clock), 'content-type': 'application/json' };
	return { status: 200, headers, body: JSON.stringify(body), facts: record.facts };
}

function isAnthropic({ headers }: HttpRequest): boolean {
	return headers['anthropic-version'] !== undefined || headers['provider-a-version'] !== undefined;
}

function rendererFor(request: HttpRequest): (model: ListedModel) => object {
	return isAnthropic(request) ? anthropicModel : (model) => ({ ...openaiModel(model), ...anthropicModel(model) });
}

/** When a model was made is not known here. */
function openaiModel({ id, target }: ListedModel): object {
	return { id, object: 'model', created: 0, owned_by: target.provider };
}

function anthropicModel({ id }: ListedModel): object {
	return { type: 'model', id, display_name: id, created_at: '1970-01-01T00:00:00Z' };
}

/** Also what a request without `limit` gets: clients that read one page are to find every model. */
const maxLimit = 1000;

/** Some models of a list, in its order. */
export interface ModelPage<Model> {
	readonly models: readonly Model[];
	/** Whether more follow; with `before_id`, whether more precede. */
	readonly hasMore: boolean;
}

/** The page that `limit`, `after_id` and `before_id` of a query ask for. @throws Refusal `field_invalid` */
export function pageOf<Model extends { readonly id: string }>(all: readonly Model[], query: string): ModelPage<Model> {
	const asked = new URLSearchParams(query);
	const limit = limitOf(asked.get('limit'));
	const [afterId, beforeId] = [asked.get('after_id'), asked.get('before_id')];
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

function invalid(param: string, message: string): Refusal {
	return new Refusal('field_invalid', { param, message });
}
