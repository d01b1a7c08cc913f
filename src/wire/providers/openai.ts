import { fixedPath, type Protocol } from './protocol.ts';

/** OpenAI, and servers with compatible chat completions. The base URL ends with `/v1` if the vendor's does. */
export const openai: Protocol = {
	conversation: 'chat',
	apis: { chat: fixedPath('/chat/completions') },
	authenticate: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
	defaultHeaders: {},
	forwards: [{ from: 'openai-beta', to: 'openai-beta' }],
	spendStops: ['insufficient_quota'],
};
