import { fixedPath, type Protocol } from './protocol.ts';

const others = {
	chat: fixedPath('/chat/completions'),
	embeddings: fixedPath('/embeddings'),
	completions: fixedPath('/completions'),
};

/** Fields of OpenAI and Azure, whose `reset` is a duration such as `6m0s`, or in seconds. */
export const openaiRateLimits = (['requests', 'tokens'] as const).map((kind) => ({
	kind,
	limit: `x-ratelimit-limit-${kind}`,
	remaining: `x-ratelimit-remaining-${kind}`,
	reset: `x-ratelimit-reset-${kind}`,
}));

/** OpenAI. The base URL ends with `/v1` if the vendor's does. */
export const openai: Protocol = {
	conversation: 'chat',
	apis: { ...others, responses: fixedPath('/responses') },
	authenticate: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
	defaultHeaders: {},
	forwards: [{ from: 'openai-beta', to: 'openai-beta' }],
	rateLimits: openaiRateLimits,
	spendStops: ['insufficient_quota'],
};

/** Servers with compatible chat completions; few have the Responses API. */
export const openaiCompatible: Protocol = { ...openai, apis: others };
