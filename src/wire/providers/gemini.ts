import { Rejection } from '../../core/rejection.ts';
import { fixedPath, type Locate, type Protocol, withQuery } from './protocol.ts';

/** Codes of exhausted daily quotas; those per minute are rate limits. */
const spendStops = ['PerDay'];

/** Google's reason, sent with status 400. */
const keyRejection = '"API_KEY_INVALID"';

const generateContent: Locate = ({ pathPrefix }, model, query, isStreaming) => {
	const method = isStreaming ? 'streamGenerateContent' : 'generateContent';
	const parameters = isStreaming ? [query, 'alt=sse'].filter((one) => one !== '').join('&') : query;
	return withQuery(`${pathPrefix}/v1beta/models/${modelSegment(model)}:${method}`, parameters);
};

const batchEmbedContents: Locate = ({ pathPrefix }, model, query) =>
	withQuery(`${pathPrefix}/v1beta/models/${modelSegment(model)}:batchEmbedContents`, query);

/** Google Gemini in its own format, in which the URL decides between streaming and non-streaming. */
export const gemini: Protocol = {
	conversation: 'gemini',
	apis: { gemini: generateContent, 'gemini-embeddings': batchEmbedContents },
	authenticate: (apiKey) => ({ 'x-goog-api-key': apiKey }),
	defaultHeaders: {},
	forwards: [],
	rateLimits: [],
	spendStops,
	keyRejection,
};

/** Google Gemini through its endpoints in OpenAI's formats. */
export const geminiOpenai: Protocol = {
	conversation: 'gemini-openai',
	apis: {
		'gemini-openai': fixedPath('/v1beta/openai/chat/completions'),
		embeddings: fixedPath('/v1beta/openai/embeddings'),
	},
	authenticate: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
	defaultHeaders: {},
	forwards: [],
	rateLimits: [],
	spendStops,
	keyRejection,
};

/** The name becomes part of a path, so only valid names of Google models pass. */
function modelSegment(model: string): string {
	if (/^[\w.-]{1,128}$/.test(model) && !/^\.+$/.test(model)) return model;
	throw new Rejection('field_invalid', {
		param: 'model',
		message: '`model` must be the name of a Gemini model: at most 128 letters, digits, `-`, `_` and `.`',
	});
}
