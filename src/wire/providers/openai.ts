import { type Protocol, withQuery } from './protocol.ts';

/** OpenAI, and servers that speak its chat completions. The base address ends in `/v1` where the vendor's does. */
export const openai: Protocol = {
	wire: 'chat',
	locate: ({ pathPrefix }, _model, query) => withQuery(`${pathPrefix}/chat/completions`, query),
	authenticate: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
	defaultHeaders: {},
	forwards: [{ from: 'openai-beta', to: 'openai-beta' }],
	spendStops: ['insufficient_quota'],
};
