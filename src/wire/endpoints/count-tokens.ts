import { tokenCounting } from '../dialects/messages/token-counting.ts';
import type { Endpoint, Estimate } from './endpoint.ts';

const estimate: Estimate = {
	warning: 'input_tokens: estimated, for the provider of the model does not count',
	respond: (inputTokens) => ({ input_tokens: inputTokens }),
};

/**
 * How many input tokens a messages request has. Vendors charge nothing for it. Clients count before each request, so that counts have a
 * limit of their own.
 */
export const countTokens: Endpoint = {
	path: '/v1/messages/count_tokens',
	dialect: tokenCounting,
	bills: { counter: 'count_tokens', requestsFactor: 10 },
	canStream: false,
	response: 'computed',
	estimateFor: ({ countsTokens }) => (countsTokens ? undefined : estimate),
	locate: (provider, _model, query) => provider.locateCount(query),
};
