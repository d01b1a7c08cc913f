import { type ClientDialectName, clientDialectNames } from '../../core/dialect-name.ts';
import type { ClientDialect } from '../dialects/dialect.ts';
import { clientDialects } from '../dialects/dialects.ts';
import { tokenCounting } from '../dialects/messages/messages.ts';
import type { Endpoint, Estimate } from './endpoint.ts';

/** An endpoint at which a model generates text. Requests are translated for providers with another dialect. */
function inferenceEndpoint(path: string, dialect: ClientDialect): Endpoint {
	return {
		path,
		dialect,
		bills: 'usage',
		canStream: true,
		response: 'generated',
		estimateFor: () => undefined,
		locate: (provider, name, model, query, isStreaming) => provider.locate(name, model, query, isStreaming),
	};
}

const paths: Readonly<Record<ClientDialectName, string>> = {
	chat: '/v1/chat/completions',
	messages: '/v1/messages',
	responses: '/v1/responses',
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
	estimateFor: ({ countsTokens }) => (countsTokens ? undefined : estimate),
	locate: (provider, _dialect, _model, query) => provider.locateCount(query),
};

export const endpoints: readonly Endpoint[] = [
	...clientDialectNames.map((name) => inferenceEndpoint(paths[name], clientDialects[name])),
	countTokens,
];

/** Endpoints that bill their requests. */
export const inferenceEndpoints: readonly Endpoint[] = endpoints.filter(({ bills }) => bills === 'usage');
