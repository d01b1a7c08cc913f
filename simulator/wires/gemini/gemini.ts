import { VendorError } from '../../vendor-error.ts';
import { bearerKey, type HeaderContext, headerText, type ModelRequest, type Wire } from '../wire.ts';
import { camelCaseKeys } from './camel-case.ts';
import { checkContent } from './check-content.ts';
import { geminiEmbeddings } from './embed-content.ts';
import { renderGoogleError } from './gemini-errors.ts';
import { geminiModel } from './gemini-models.ts';
import { readContentPrompt, showsThoughts } from './read-content.ts';
import { renderContent, streamContent } from './render-content.ts';

export const geminiWire: Wire = {
	name: 'gemini',
	readKey: ({ headers, query }) => headerText(headers, 'x-goog-api-key') || (query.get('key') ?? bearerKey(headers)),
	checkAccess: (_target, key, isRejected) => checkGoogleKey(key, isRejected),
	notJsonMessage: 'Invalid JSON payload received. Unexpected end of string. Expected a value.',
	readPrompt(received, model) {
		const facts = geminiModel(model);
		if (!facts.isKnown) throw new VendorError('model-unknown', model);
		const body = camelCaseKeys(received);
		checkContent(body, facts);
		return readContentPrompt(body, model, facts);
	},
	openRequest(outline, model, target): ModelRequest {
		const options = { model, showsThoughts: showsThoughts(camelCaseKeys(outline)), isSse: target.query.get('alt') === 'sse' };
		return {
			isStream: target.isStream,
			caching: 'implicit',
			...(target.action === 'count' ? { countResponse: (inputTokens: number) => ({ totalTokens: inputTokens }) } : {}),
			streamContentType: options.isSse ? 'text/event-stream' : 'application/json; charset=UTF-8',
			renderNonStreaming: (response) => renderContent(response, options),
			renderEvents: (response) => streamContent(response, options),
			renderErrorEvent: () => {
				const text = JSON.stringify(renderGoogleError(new VendorError('overloaded', '', { status: 503 }), model));
				return options.isSse ? `data: ${text}\r\n\r\n` : `,\r\n${text}]`;
			},
		};
	},
	embeddings: geminiEmbeddings,
	renderError: (error, { model }) => renderGoogleError(error, model),
	headers: googleHeaders,
	newRequestId: (random) => random.letters(22),
};

export function checkGoogleKey(key: string, isRejected: boolean): void {
	if (key === '') throw new VendorError('key-missing', '', { status: 403 });
	if (isRejected) throw new VendorError('key-invalid', '', { status: 400 });
}

/** Returns the response headers. There are no rate limits, no retry hints, and no request id that a client could read. */
export function googleHeaders({ requestId, random }: HeaderContext): Record<string, string | string[]> {
	return {
		'x-gemini-service-tier': 'standard',
		vary: 'Origin, X-Origin, Referer',
		server: 'scaffolding on HTTPServer2',
		'server-timing': `gfet4t7; dur=${random.integer(200, 3000)}`,
		'x-xss-protection': '0',
		'x-frame-options': 'SAMEORIGIN',
		'x-content-type-options': 'nosniff',
		'alt-svc': 'h3=":443"; ma=2592000',
		'x-simulator-request-id': requestId,
	};
}
