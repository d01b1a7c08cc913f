import type { HttpRequest, HttpResponse } from '../../core/handler.ts';
import { Refusal } from '../../core/refusal.ts';
import type { ListedModel } from '../../policy/routing/routing-settings.ts';
import { answerHeaders } from './answer-headers.ts';
import type { GatewayFacts } from './gateway-facts.ts';
import type { GatewayParts } from './gateway-parts.ts';
import { noteLimits } from './note-limits.ts';
import { identifyCaller } from './stages/identify-caller.ts';
import { noteTeam } from './stages/identify-team.ts';

export const modelPath = '/v1/models/';

/** The models that this caller may use and somebody has named, in one list that both vendors' SDKs read. */
export async function serveModels(request: HttpRequest, facts: GatewayFacts, parts: GatewayParts): Promise<HttpResponse> {
	const data = await listModels(request, facts, parts);
	const body = { object: 'list', data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
	return answerJson(body, request, facts, parts);
}

/** One of them, by its name behind `/v1/models/`. @throws Refusal `model_unlisted` */
export async function serveModel(request: HttpRequest, facts: GatewayFacts, parts: GatewayParts): Promise<HttpResponse> {
	const name = request.path.slice(modelPath.length);
	const models = await listModels(request, facts, parts);
	const model = models.find(({ id }) => id === name || encodeURIComponent(id) === name);
	if (model !== undefined) return answerJson(model, request, facts, parts);
	throw new Refusal('model_unlisted', { param: 'model' });
}

async function listModels(request: HttpRequest, facts: GatewayFacts, parts: GatewayParts): Promise<Model[]> {
	const { ports, providers, routing } = parts;
	const team = noteTeam(await identifyCaller(request, parts), facts, parts);
	await noteLimits(facts, parts);
	const models = routing.modelsOf(team.id, ports.teams.routingRules());
	return models.filter(({ provider }) => providers.get(provider)?.isConfigured === true).map(renderModel);
}

function answerJson(body: object, request: HttpRequest, facts: GatewayFacts, { ports }: GatewayParts): HttpResponse {
	const headers = { ...answerHeaders(request, facts, ports.clock), 'content-type': 'application/json' };
	return { status: 200, headers, body: JSON.stringify(body), facts };
}

type Model = ReturnType<typeof renderModel>;

/** The first half is OpenAI's, the second Anthropic's. When a model was made is not known here. */
function renderModel({ id, provider }: ListedModel) {
	return { id, object: 'model', created: 0, owned_by: provider, type: 'model', display_name: id, created_at: '1970-01-01T00:00:00Z' };
}
