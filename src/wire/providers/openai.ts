import { fixedPath, openaiRateLimits, type Protocol } from './protocol.ts';

const others = {
	chat: fixedPath('/chat/completions'),
	embeddings: fixedPath('/embeddings'),
	completions: fixedPath('/completions'),
};

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
