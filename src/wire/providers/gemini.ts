import { type Protocol, withQuery } from './protocol.ts';

/** Google Gemini. Its own format is none that callers speak. */
export const gemini: Protocol = {
	format: null,
	locate: ({ pathPrefix }, model, query) => withQuery(`${pathPrefix}/v1beta/models/${encodeURIComponent(model)}:generateContent`, query),
	authenticate: (apiKey) => ({ 'x-goog-api-key': apiKey }),
	defaultHeaders: {},
	forwards: [],
	spendStops: [],
};
