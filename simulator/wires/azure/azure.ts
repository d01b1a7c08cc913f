/** Azure OpenAI: the chat completions format with Azure's filter results, errors, headers and two path forms. */
import { splitModelName } from '../../faults/fault-names.ts';
import { isObject, type JsonObject, listOf, objectOf } from '../../json-value.ts';
import { VendorError } from '../../vendor-error.ts';
import { createEmbeddingsApi } from '../embeddings/embeddings-api.ts';
import { apiByAction } from '../openai/api-by-action.ts';
import { checkChat } from '../openai/check-chat.ts';
import { createCompletionsApi } from '../openai/completions-api.ts';
import { embeddingModel } from '../openai/embedding-models.ts';
import { openAiLimits, openAiWords } from '../openai/openai.ts';
import { type OpenAiModel, openAiModel } from '../openai/openai-models.ts';
import { readChatOptions, readChatPrompt } from '../openai/read-chat.ts';
import { renderChat } from '../openai/render-chat.ts';
import { dataLine, streamChat } from '../openai/stream-chat.ts';
import { createResponsesApi } from '../responses/responses-api.ts';
import { bearerKey, headerText, type Wire, type WireApi, type WireTarget } from '../wire.ts';

const deniedAccess =
	'Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key for an active ' +
	'subscription and use a correct regional API endpoint for your resource.';

const readKey = ({ headers }: WireTarget): string => headerText(headers, 'api-key') || bearerKey(headers);

const renderErrorEvent = (): string =>
	dataLine({ error: { code: '500', message: 'The server had an error while processing your request. Sorry about that!' } });

const chatApi: WireApi = {
	readPrompt(body, model) {
		const facts = knownDeployment(model);
		checkChat(body, facts);
		return readChatPrompt(body, model, facts.isReasoning);
	},
	openRequest(body, model) {
		const facts = deploymentModel(model);
		const options = { ...readChatOptions(body), serviceTier: 'default' };
		return {
			isStream: body['stream'] === true,
			caching: facts.countsCacheWrites ? 'implicit-counted' : 'implicit',
			streamContentType: 'text/event-stream; charset=utf-8',
			renderNonStreaming: (response) => shapeNonStreaming(renderChat(response, facts, options)),
			renderEvents: (response) => streamChat(response, facts, options, { shape: shapeChunk, preamble: filterPreamble }),
			renderErrorEvent,
		};
	},
};

const completionsApi = createCompletionsApi({ modelOf: knownDeployment, renderErrorEvent });
const responsesApi = createResponsesApi({ name: 'azure', modelOf: knownDeployment, readKey, shape: withContentFilters });
const embeddings = createEmbeddingsApi((deployment) => {
	knownDeployment(deployment);
	return embeddingModel(deployment) ?? { snapshot: 'text-embedding-3-small', size: 1536, isResizable: true };
});

export const azureWire: Wire = {
	...apiByAction({ chat: chatApi, responses: responsesApi, completions: completionsApi }),
	name: 'azure',
	readKey,
	checkAccess(target, key, isRejected) {
		if (key === '') throw new VendorError('key-missing', deniedAccess, { code: '401' });
		if (isRejected) throw new VendorError('key-invalid', deniedAccess, { code: '401' });
		checkVersion(target);
	},
	notJsonMessage: 'Invalid JSON: the body of the request could not be parsed.',
	embeddings,
	renderError: renderAzureError,
	headers({ requestId, status, random, responseNumber, inputTokens, model, error, accountLimits }) {
		const headers: Record<string, string> = {
			'apim-request-id': uuidFrom(random.letters(32)),
			'x-request-id': requestId,
			'x-ms-region': 'East US 2',
			'x-ms-client-request-id': requestId,
			'x-ms-deployment-name': model,
			'x-ms-rai-invoked': 'true',
			'x-accel-buffering': 'no',
			'azureml-model-session': 'd000-simulator',
			'strict-transport-security': 'max-age=31536000; includeSubDomains; preload',
			'x-content-type-options': 'nosniff',
			'x-ratelimit-limit-requests': '120',
			'x-ratelimit-limit-tokens': '120000',
			'x-ratelimit-remaining-requests': String(120 - (responseNumber % 100)),
			'x-ratelimit-remaining-tokens': String(Math.max(0, 120_000 - inputTokens)),
			'x-ratelimit-reset-requests': '500',
			'x-ratelimit-reset-tokens': '7',
			'x-ratelimit-renewalperiod-requests': '60',
			...openAiLimits(accountLimits, (ms) => String(Math.ceil(ms / 1000))),
		};
		if (status === 429 && error?.retryAfterSeconds !== undefined) {
			headers['retry-after'] = String(error.retryAfterSeconds);
			headers['retry-after-ms'] = String(error.retryAfterSeconds * 1000);
		}
		return headers;
	},
	newRequestId: (random) => uuidFrom(random.letters(32)),
};

/** Returns the model of a deployment, whose name is free: one that names no known model behaves like a classic one. */
function deploymentModel(deployment: string): OpenAiModel {
	const facts = openAiModel(deployment);
	const isNamed = facts.isKnown && splitModelName(deployment).faults === undefined;
	return isNamed ? facts : { ...facts, snapshot: 'gpt-4.1-mini-2025-04-14' };
}

function knownDeployment(deployment: string): OpenAiModel {
	if (deployment === '') throw new VendorError('invalid', 'you must provide a model parameter');
	if (/^(?:no-such|missing)/.test(deployment)) throw new VendorError('model-unknown', deployment);
	return deploymentModel(deployment);
}

function checkVersion({ isVersioned, query }: WireTarget): void {
	if (isVersioned !== true) return;
	const version = query.get('api-version');
	if (version === null) throw new VendorError('path-unknown', 'Resource not found', { code: '404' });
	if (!/^\d{4}-\d{2}-\d{2}(?:-preview)?$/.test(version)) {
		throw new VendorError('invalid', 'API version not supported', { code: 'BadRequest' });
	}
}

const safe = { filtered: false, severity: 'safe' };
const found = { detected: false, filtered: false };
const promptResults = { hate: safe, jailbreak: found, self_harm: safe, sexual: safe, violence: safe };
const resultsText = {
	hate: safe,
	protected_material_code: found,
	protected_material_text: found,
	self_harm: safe,
	sexual: safe,
	violence: safe,
};
const promptFilter = [{ prompt_index: 0, content_filter_results: promptResults }];
const filterPreamble = { choices: [], created: 0, id: '', model: '', object: '', prompt_filter_results: promptFilter };

function shapeChunk(chunk: JsonObject): JsonObject {
	const { service_tier: _tier, ...rest } = chunk;
	const choices = listOf(chunk['choices']).map((choice) => {
		const { delta, finish_reason: reason } = objectOf(choice);
		const isText = 'content' in objectOf(delta) && !('role' in objectOf(delta));
		return {
			...objectOf(choice),
			content_filter_results: isText || reason === 'stop' ? resultsText : reason === 'content_filter' ? matchedResults : {},
		};
	});
	return objectOf(sortKeys({ ...rest, choices }));
}

const matchedResults = { ...resultsText, hate: { filtered: true, severity: 'high' } };

function shapeNonStreaming(chat: JsonObject): JsonObject {
	const { service_tier: _tier, ...rest } = chat;
	const choices = listOf(chat['choices']).map((choice) => {
		const { message, ...others } = objectOf(choice);
		if (others['finish_reason'] === 'content_filter') return { ...others, logprobs: null, content_filter_results: matchedResults };
		return { ...others, logprobs: others['logprobs'] ?? null, message, content_filter_results: resultsText };
	});
	const sorted = objectOf(sortKeys({ ...rest, choices, prompt_filter_results: promptFilter }));
	return { ...sorted, prompt_filter_results: promptFilter };
}

/** Adds the filter results of the Responses API, which come with the end of a response. */
function withContentFilters(response: JsonObject): JsonObject {
	const results = (source: string, content: JsonObject): JsonObject => ({
		blocked: false,
		source_type: source,
		content_filter_raw: null,
		content_filter_results: content,
		content_filter_offsets: { start_offset: 0, end_offset: 1000, check_offset: 0 },
	});
	const isOver = response['usage'] !== null;
	const filters = isOver ? [results('prompt', promptResults), results('completion', resultsText)] : null;
	return Object.fromEntries(
		Object.entries(response).flatMap(([name, value]) =>
			name === 'error'
				? [
						['content_filters', filters],
						[name, value],
					]
				: [[name, value]],
		),
	);
}

function renderAzureError(error: VendorError, { key, model }: { key: string; model: string }): JsonObject {
	const { message, type, code } = openAiWords(error, key, model);
	switch (error.kind) {
		case 'key-missing':
		case 'key-invalid':
			return { error: { code: '401', message: deniedAccess } };
		case 'path-unknown':
			return { error: { code: '404', message: 'Resource not found' } };
		case 'forbidden':
			return { error: { code: '403', message: 'Access denied due to Virtual Network/Firewall rules.' } };
		case 'model-unknown':
			return {
				error: {
					type,
					code: 'DeploymentNotFound',
					message:
						'The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, please wait a moment and try again.',
				},
			};
		case 'rate':
			return {
				error: {
					code: 'RateLimitReached',
					message: `Requests to the ChatCompletions_Create Operation under Azure OpenAI API have exceeded call rate limit of your current AIServices S0 pricing tier. Please retry after ${error.retryAfterSeconds ?? 1} seconds.`,
				},
			};
		default:
			return { error: { message, type, param: error.param, code: code ?? error.code } };
	}
}

function uuidFrom(letters: string): string {
	const hex = Buffer.from(letters, 'latin1').toString('hex').slice(0, 32);
	return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** Sorts each object's keys alphabetically, as Azure does. */
function sortKeys(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(sortKeys);
	if (!isObject(value)) return value;
	return Object.fromEntries(
		Object.keys(value)
			.toSorted()
			.map((key) => [key, sortKeys(value[key])]),
	);
}
