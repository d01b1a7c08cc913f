import { type ClientDialectName, clientDialectNames } from '../../core/dialect-name.ts';
import { clientDialects } from '../dialects/dialects.ts';
import { tokenCounting } from '../dialects/messages/messages.ts';
import { compaction } from '../dialects/responses/compaction.ts';
import { embeddings } from './embeddings.ts';
import { type Endpoint, type Estimate, inferenceEndpoint } from './endpoint.ts';

const byDialect: Readonly<Record<ClientDialectName, Endpoint>> = {
	chat: inferenceEndpoint('/v1/chat/completions', clientDialects.chat),
	messages: inferenceEndpoint('/v1/messages', clientDialects.messages),
	responses: inferenceEndpoint('/v1/responses', clientDialects.responses),
	embeddings,
	completions: inferenceEndpoint('/v1/completions', clientDialects.completions),
};

const estimate: Estimate = {
	warning: 'input_tokens: estimated because the model’s provider cannot count tokens',
	respond: (inputTokens) => ({ input_tokens: inputTokens }),
};

/**
 * Counts the input tokens of a messages request. Vendors charge nothing for it. Clients count before each request, so counts have a
 * separate limit.
 */
const countTokens: Endpoint = {
	path: '/v1/messages/count_tokens',
	dialect: tokenCounting,
	bills: { counter: 'count_tokens', requestsFactor: 10 },
	canStream: false,
	response: 'computed',
	failsOverTo: 'any_model',
	estimateFor: ({ countsTokens }) => (countsTokens ? undefined : estimate),
	locate: (provider, _dialect, _model, query) => provider.locateCount(query),
};

/** Compacts a conversation of the Responses API, which costs tokens. */
const compact: Endpoint = {
	...inferenceEndpoint('/v1/responses/compact', compaction),
	isUntranslated: true,
	canStream: false,
	locate: (provider, name, model, query) => provider.locateBelow(name, model, '/compact', query),
};

export const endpoints: readonly Endpoint[] = [...clientDialectNames.map((name) => byDialect[name]), countTokens, compact];

/** Endpoints that bill their requests. */
export const inferenceEndpoints: readonly Endpoint[] = endpoints.filter(({ bills }) => bills === 'usage');
