import { splitModelName } from '../../faults/fault-names.ts';
import type { AccountLimits } from '../../faults/rate-limits.ts';
import type { JsonObject } from '../../json-value.ts';
import { VendorError } from '../../vendor-error.ts';
import { createEmbeddingsApi } from '../embeddings/embeddings-api.ts';
import { createResponsesApi } from '../responses/responses-api.ts';
import { bearerKey, type Wire, type WireApi } from '../wire.ts';
import { apiByAction } from './api-by-action.ts';
import { checkChat } from './check-chat.ts';
import { createCompletionsApi } from './completions-api.ts';
import { embeddingModel } from './embedding-models.ts';
import { type OpenAiModel, openAiModel } from './openai-models.ts';
import { readChatOptions, readChatPrompt } from './read-chat.ts';
import { renderChat } from './render-chat.ts';
import { dataLine, streamChat } from './stream-chat.ts';

const renderErrorEvent = (): string => dataLine(renderOpenAiError(new VendorError('server', ''), '', ''));

const chatApi: WireApi = {
	readPrompt(body, model) {
		const facts = knownModel(model);
		if (facts.onlyApi !== undefined) throw new VendorError('invalid', wrongApi[facts.onlyApi], { status: 404, param: 'model' });
		checkChat(body, facts);
		return readChatPrompt(body, model, facts.isReasoning);
	},
	openRequest(body, model) {
		const facts = openAiModel(model);
		const options = readChatOptions(body);
		return {
			isStream: body['stream'] === true,
			caching: facts.countsCacheWrites ? 'implicit-counted' : 'implicit',
			streamContentType: 'text/event-stream; charset=utf-8',
			renderNonStreaming: (response) => renderChat(response, facts, options),
			renderEvents: (response) => streamChat(response, facts, options, { shape: (chunk) => chunk }),
			renderErrorEvent,
		};
	},
};

const wrongApi = {
	responses: 'This model is only supported in v1/responses and not in v1/chat/completions.',
	completions: 'This is not a chat model and thus not supported in the v1/chat/completions endpoint. Did you mean to use v1/completions?',
} as const;

function knownModel(model: string): OpenAiModel {
	if (model === '') throw new VendorError('invalid', 'you must provide a model parameter');
	const facts = openAiModel(model);
	if (!facts.isKnown) throw new VendorError('model-unknown', model);
	return facts;
}

const responsesApi = createResponsesApi({
	name: 'openai',
	modelOf(model) {
		if (model === '') throw new VendorError('invalid', "Missing required parameter: 'model'.", missingModel);
		const facts = openAiModel(model);
		if (facts.isKnown && facts.onlyApi !== 'completions') return facts;
		throw new VendorError('invalid', `The requested model '${model}' does not exist.`, { param: 'model', code: 'model_not_found' });
	},
	readKey: ({ headers }) => bearerKey(headers),
	shape: (response) => response,
});

const missingModel = { param: 'model', code: 'missing_required_parameter' } as const;

const completionsApi = createCompletionsApi({
	modelOf(model) {
		const facts = knownModel(model);
		if (facts.onlyApi === 'completions' || splitModelName(model).faults !== undefined) return facts;
		const message = 'This is a chat model and not supported in the v1/completions endpoint. Did you mean to use v1/chat/completions?';
		throw new VendorError('invalid', message, { status: 404, param: 'model' });
	},
	renderErrorEvent,
});

const embeddings = createEmbeddingsApi((model) => {
	const found = embeddingModel(model);
	if (found !== undefined) return found;
	knownModel(model);
	throw new VendorError('invalid', 'You are not allowed to generate embeddings from this model', { status: 403 });
});

export const openAiWire: Wire = {
	...apiByAction({ chat: chatApi, responses: responsesApi, completions: completionsApi }),
	name: 'openai',
	readKey: ({ headers }) => bearerKey(headers),
	checkAccess(_target, key, isRejected) {
		if (key === '') throw new VendorError('key-missing', missingKeyMessage);
		if (isRejected) throw new VendorError('key-invalid', '', { code: 'invalid_api_key' });
	},
	notJsonMessage:
		'We could not parse the JSON body of your request. (HINT: This likely means you aren’t using your HTTP library correctly. ' +
		'The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)',
	embeddings,
	renderError: (error, { key, model }) => renderOpenAiError(error, key, model),
	headers({ requestId, status, random, responseNumber, inputTokens, error, accountLimits }) {
		const headers: Record<string, string | string[]> = {
			'x-request-id': requestId,
			'openai-version': '2020-10-01',
			'openai-organization': 'sim-organization',
			'openai-project': 'proj_simulator',
			'openai-processing-ms': String(random.integer(80, 900)),
			'cf-ray': `${random.letters(16).toLowerCase()}-FRA`,
			'cf-cache-status': 'DYNAMIC',
			server: 'cloudflare',
			'set-cookie': [`__cf_bm=${random.letters(43)}; path=/; HttpOnly; Secure`, `_cfuvid=${random.letters(40)}; path=/; HttpOnly; Secure`],
			'strict-transport-security': 'max-age=31536000; includeSubDomains; preload',
			'alt-svc': 'h3=":443"; ma=86400',
			'x-ratelimit-limit-requests': '30000',
			'x-ratelimit-limit-tokens': '150000000',
			'x-ratelimit-remaining-requests': String(30_000 - (responseNumber % 1000)),
			'x-ratelimit-remaining-tokens': String(150_000_000 - inputTokens),
			'x-ratelimit-reset-requests': '2ms',
			'x-ratelimit-reset-tokens': '0s',
			...openAiLimits(accountLimits, (ms) => (ms < 1000 ? `${ms}ms` : `${ms / 1000}s`)),
		};
		if (status === 429 && error?.retryAfterSeconds !== undefined && error.kind === 'rate') {
			headers['retry-after'] = String(error.retryAfterSeconds);
			headers['retry-after-ms'] = String(error.retryAfterSeconds * 1000);
		}
		return headers;
	},
	newRequestId: (random) => `req_${random.letters(32).toLowerCase()}`,
};

/** Also for Azure, which has the same fields, but other resets. */
export function openAiLimits(limits: AccountLimits | undefined, renderReset: (ms: number) => string): Record<string, string> {
	const headers: Record<string, string> = {};
	for (const kind of ['requests', 'tokens'] as const) {
		const limit = limits?.[kind];
		if (limits === undefined || limit === undefined) continue;
		headers[`x-ratelimit-limit-${kind}`] = String(limit.limit);
		headers[`x-ratelimit-remaining-${kind}`] = String(limit.remaining);
		headers[`x-ratelimit-reset-${kind}`] = renderReset(limits.resetMs);
	}
	return headers;
}

const missingKeyMessage =
	"You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth " +
	'(i.e. Authorization: Bearer YOUR_KEY). You can obtain an API key from https://platform.openai.com/account/api-keys.';

function renderOpenAiError(error: VendorError, key: string, model: string): JsonObject {
	const { message, type, code } = openAiWords(error, key, model);
	return { error: { message, type, param: error.param, code } };
}

export function openAiWords(error: VendorError, key: string, model: string): { message: string; type: string; code: string | null } {
	const type = 'invalid_request_error';
	switch (error.kind) {
		case 'key-invalid':
			return {
				message: `Incorrect API key provided: ${maskKey(key)}. You can find your API key at https://platform.openai.com/account/api-keys.`,
				type,
				code: 'invalid_api_key',
			};
		case 'forbidden':
			return {
				message: 'Country, region, or territory not supported',
				type: 'request_forbidden',
				code: 'unsupported_country_region_territory',
			};
		case 'model-unknown':
			return { message: `The model \`${error.message}\` does not exist or you do not have access to it.`, type, code: 'model_not_found' };
		case 'path-unknown':
			return { message: `Invalid URL (${error.message})`, type, code: null };
		case 'method-wrong':
			return {
				message: `Not allowed to ${error.message}. (HINT: Perhaps you meant to use a different HTTP method?)`,
				type,
				code: 'method_not_supported',
			};
		case 'rate':
			return {
				message: `Rate limit reached for ${model} in organization org-sim on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in ${error.retryAfterSeconds ?? 1}s.`,
				type: 'requests',
				code: 'rate_limit_exceeded',
			};
		case 'quota':
			return {
				message: 'You exceeded your current quota, please check your plan and billing details.',
				type: 'insufficient_quota',
				code: 'insufficient_quota',
			};
		case 'server':
			return { message: 'The server had an error while processing your request. Sorry about that!', type: 'server_error', code: null };
		case 'overloaded':
			return { message: 'The engine is currently overloaded, please try again later', type: 'server_error', code: null };
		default:
			return { message: error.message, type: error.status >= 500 ? 'server_error' : type, code: error.code };
	}
}

/** Masks the middle of a wrong key, which the vendor's error message repeats. */
function maskKey(key: string): string {
	if (key.length <= 12) return `${key.slice(0, 3)}${'*'.repeat(Math.max(0, key.length - 3))}`;
	return `${key.slice(0, 7)}${'*'.repeat(key.length - 11)}${key.slice(-4)}`;
}
