import type { JsonObject } from '../../json-value.ts';
import { VendorError } from '../../vendor-error.ts';
import { bearerKey, headerText, type ModelRequest, type Wire } from '../wire.ts';
import { anthropicModel } from './anthropic-models.ts';
import { checkMessage } from './check-message.ts';
import { knownVersions } from './message-check.ts';
import { readMessagePrompt, readThinking } from './read-message.ts';
import { renderMessage, renderMessageContent, streamMessage } from './render-message.ts';

export const anthropicWire: Wire = {
	name: 'anthropic',
	readKey: ({ headers }) => headerText(headers, 'x-api-key') || bearerKey(headers),
	checkAccess({ headers }, key, isRejected) {
		if (key === '') throw new VendorError('key-missing', 'x-api-key header is required');
		if (isRejected) throw new VendorError('key-invalid', 'invalid x-api-key');
		const version = headerText(headers, 'anthropic-version');
		if (version === '') throw new VendorError('version-missing', 'anthropic-version: header is required');
		if (!knownVersions.includes(version)) throw new VendorError('invalid', `anthropic-version: "${version}" is not a valid version`);
	},
	notJsonMessage: 'The request body is not valid JSON: expected value at line 1 column 1',
	readPrompt(body, model, target) {
		if (model === '') throw new VendorError('invalid', 'model: Field required');
		const facts = anthropicModel(model);
		if (!facts.isKnown) throw new VendorError('model-unknown', model);
		checkMessage(body, {
			model: facts,
			version: headerText(target.headers, 'anthropic-version'),
			hasBeta: headerText(target.headers, 'anthropic-beta') !== '',
			isCount: target.action === 'count',
		});
		return readMessagePrompt(body, model, readThinking(body, facts));
	},
	openRequest(body, model, target): ModelRequest {
		const facts = anthropicModel(model);
		const options = { snapshot: facts.snapshot, thinking: readThinking(body, facts) };
		const isCount = target.action === 'count';
		return {
			isStream: body['stream'] === true,
			caching: 'marked',
			...(isCount ? { countResponse: (inputTokens: number) => ({ input_tokens: inputTokens }) } : {}),
			streamContentType: 'text/event-stream; charset=utf-8',
			renderNonStreaming: (response) => renderMessage(response, options),
			responseContent: (response) => renderMessageContent(response, options),
			renderEvents: (response) => streamMessage(response, options),
			renderErrorEvent: () =>
				`event: error\ndata: ${JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } })}\n\n`,
		};
	},
	renderError: (error, { requestId }) => renderAnthropicError(error, requestId),
	headers({ requestId, status, random, nowMs, responseNumber, retryAfterEvery, inputTokens, error, accountLimits }) {
		const resetMs = Math.ceil((nowMs + (accountLimits?.resetMs ?? 60_000)) / 1000) * 1000;
		const reset = new Date(resetMs).toISOString().replace(/\.\d+Z$/, 'Z');
		const { requests, tokens } = accountLimits ?? {};
		const headers: Record<string, string | string[]> = {
			'request-id': requestId,
			// The vendor does not send this header; without it the server would add its own two id headers.
			'x-request-id': requestId,
			'anthropic-organization-id': '00000000-5151-4000-8000-000000000000',
			'cf-ray': `${random.letters(16).toLowerCase()}-FRA`,
			'cf-cache-status': 'DYNAMIC',
			server: 'cloudflare',
			'set-cookie': `_cfuvid=${random.letters(40)}; HttpOnly; Secure; Path=/`,
			'strict-transport-security': 'max-age=31536000; includeSubDomains; preload',
			'x-envoy-upstream-service-time': String(random.integer(200, 2000)),
			'x-robots-tag': 'none',
		};
		const budgets: readonly [string, number, number][] = [
			['requests', requests?.limit ?? 4000, requests === undefined ? responseNumber % 1000 : requests.limit - requests.remaining],
			['input-tokens', tokens?.limit ?? 400_000, tokens === undefined ? inputTokens : tokens.limit - tokens.remaining],
			['output-tokens', 80_000, 0],
			['tokens', tokens?.limit ?? 480_000, tokens === undefined ? inputTokens : tokens.limit - tokens.remaining],
		];
		for (const [name, limit, used] of budgets) {
			headers[`anthropic-ratelimit-${name}-limit`] = String(limit);
			headers[`anthropic-ratelimit-${name}-remaining`] = String(Math.max(0, limit - used));
			headers[`anthropic-ratelimit-${name}-reset`] = reset;
		}
		if (error?.kind === 'key-missing' || error?.kind === 'key-invalid') headers['x-should-retry'] = 'false';
		if (error?.kind === 'rate' && error.retryAfterSeconds !== undefined) headers['retry-after'] = String(error.retryAfterSeconds);
		if (error?.kind === 'overloaded' || error?.kind === 'server') headers['x-should-retry'] = 'true';
		if (status === 200 && retryAfterEvery > 0 && responseNumber % retryAfterEvery === 0) headers['retry-after'] = '59';
		return headers;
	},
	newRequestId: (random) => `req_011C${random.letters(20)}`,
};

const typeByStatus: Readonly<Record<number, string>> = {
	400: 'invalid_request_error',
	401: 'authentication_error',
	402: 'billing_error',
	403: 'permission_error',
	404: 'not_found_error',
	405: 'invalid_request_error',
	409: 'conflict_error',
	413: 'request_too_large',
	429: 'rate_limit_error',
	504: 'timeout_error',
	529: 'overloaded_error',
	503: 'overloaded_error',
};

function renderAnthropicError(error: VendorError, requestId: string): JsonObject {
	const type = typeByStatus[error.status] ?? (error.status >= 500 ? 'api_error' : 'invalid_request_error');
	const known = error.kind === 'quota' ? { error_code: 'enforced_spend_limit_reached' } : error.details;
	const details = known === undefined ? {} : { details: known };
	return { type: 'error', error: { type, message: messageOf(error), ...details }, request_id: requestId };
}

function messageOf(error: VendorError): string {
	switch (error.kind) {
		case 'key-invalid':
			return 'invalid x-api-key';
		case 'model-unknown':
			return `model: ${error.message}`;
		case 'path-unknown':
			return 'Not found';
		case 'method-wrong':
			return 'Method Not Allowed';
		case 'forbidden':
			return 'Your account does not have access to this model. Please contact support.';
		case 'rate':
			return 'This request would exceed your organization’s rate limit of 4,000 requests per minute.';
		case 'quota':
			return 'You have reached your specified API usage limits. You will regain access on the first of next month.';
		case 'server':
			return 'Internal server error';
		case 'overloaded':
			return 'Overloaded';
		default:
			return error.message;
	}
}
