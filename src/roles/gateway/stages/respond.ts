import type { HeaderFields, HttpResponse } from '../../../core/handler.ts';
import { UpstreamError, type UpstreamErrorCode } from '../../../core/upstream-error.ts';
import { renderGatewayError } from '../../../wire/gateway-error.ts';
import { parseExactly } from '../../../wire/json/exact-json.ts';
import { isJsonObject, type JsonObject } from '../../../wire/json/parse-body.ts';
import { isEncoded, mediaTypeOf, relayedHeaders } from '../../../wire/providers/relayed-headers.ts';
import { scrubSecrets } from '../../../wire/providers/scrub-secrets.ts';
import { skipSpace } from '../../../wire/usage/key-scan.ts';
import { describeFailure, isPermanent } from '../failure.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { addResponseHeaders, addWarnings } from '../gateway-headers.ts';
import { BilledPermit } from '../request-scope/billed-permit.ts';
import { FreeStreamPermit, type Permit } from '../request-scope/permit.ts';
import { type RequestScope, upstreamError } from '../request-scope/request-scope.ts';
import { EventBody } from '../streams/event-source.ts';
import { type StreamReaders, StreamRelay } from '../streams/stream-relay.ts';
import type { PreparedRequest } from './prepare-request.ts';
import { runCooperatively } from './read-inference-request.ts';
import { isSpendStop, type ProviderResponse } from './send-request.ts';

/**
 * Builds the client's response from the provider's: a success byte for byte or translated, an error by the table of errors (Spec: Errors).
 * A non-streaming success is metered here; an error ends the request.
 * @param readers receive the events of a stream.
 * @throws `UpstreamError` `provider_response_invalid`
 */
export function respond(
	inferenceRequest: PreparedRequest,
	providerResponse: ProviderResponse,
	permit: Permit,
	scope: RequestScope,
	deps: GatewayDeps,
	readers: StreamReaders = {},
): HttpResponse {
	const { settings, ports } = deps;
	const { response, body } = providerResponse;
	const headers = relayedHeaders(response.status, response.headers);
	addResponseHeaders(headers, inferenceRequest.request, scope.recorder, ports.clock, providerResponse.upstreamMs);
	if (!Buffer.isBuffer(body)) {
		// Prevents proxies from buffering or storing events.
		headers['content-type'] = 'text/event-stream; charset=utf-8';
		headers['cache-control'] = 'no-cache';
		headers['x-accel-buffering'] = 'no';
		const { stoppedStream = 'error' } = settings.budgets;
		const relayDeps = {
			clock: ports.clock,
			log: ports.log,
			heartbeatMs: settings.heartbeatMs,
			requestId: inferenceRequest.request.id,
			stoppedStream,
			...readers,
		};
		if (!(permit instanceof BilledPermit || permit instanceof FreeStreamPermit)) throw new Error('the permit is not one of a stream');
		const relay = new StreamRelay(body, inferenceRequest, permit, scope, relayDeps, isEncoded(response.headers));
		return { status: response.status, headers, body: new EventBody(relay), record: scope.recorder.record };
	}
	if (response.status >= 400) {
		const code = upstreamErrorOf(providerResponse.status);
		const texts = renderError(inferenceRequest, providerResponse, code, body, headers, scope);
		scope.end(upstreamError(texts.status, code));
		return texts;
	}
	permit.meterResponse(body, providerResponse.reported);
	const texts = isError(body) ? scrubSecrets(body, inferenceRequest.provider.secrets) : body;
	return { status: response.status, headers, body: responseBody(inferenceRequest, permit, texts, headers), record: scope.recorder.record };
}

/** Begins with a letter that is rare in JSON. Quotes are common, and the native search stops at each. */
const endOfErrorKey = Buffer.from('rror"');
const errorKey = Buffer.from('"error"');
const firstOfNull = 0x6e;

/**
 * Detects errors that some servers send with status 200. Other bodies stay unchanged, because a model may write text that resembles a
 * masked key.
 */
function isError(body: Buffer): boolean {
	if (!body.includes(endOfErrorKey) || !hasErrorValue(body)) return false;
	const error = readObject(body)?.error;
	return isJsonObject(error) || typeof error === 'string';
}

/** True if a member `error` is not null. Some formats have the member in every response. */
function hasErrorValue(body: Buffer): boolean {
	for (let at = body.indexOf(errorKey); at !== -1; at = body.indexOf(errorKey, at + errorKey.length)) {
		const afterKey = skipSpace(body, at + errorKey.length, body.length);
		const value = skipSpace(body, afterKey + 1, body.length);
		if (body[value] !== firstOfNull) return true;
	}
	return false;
}

/** @throws UpstreamError `provider_response_invalid` */
function responseBody({ translated }: PreparedRequest, permit: Permit, body: Buffer, headers: Record<string, string>): Buffer | string {
	if (translated === undefined) return body;
	const { translation, inferenceRequest } = translated;
	const reported = readObject(body);
	if (reported === undefined) throw new UpstreamError('provider_response_invalid');
	const warnings = new Set(translation.responseWarnings?.(reported));
	const response = translation.translateResponse(reported, {
		...inferenceRequest,
		charged: () => permit.chargedUsage,
		warn: (warning) => warnings.add(warning),
	});
	addWarnings(headers, [...warnings]);
	return JSON.stringify(response);
}

/** Returns a success in the form that its request asks for. */
export async function fitResponse(
	{ translated, format, body: { members } }: PreparedRequest,
	response: HttpResponse,
): Promise<HttpResponse> {
	const { status, body } = response;
	if (translated !== undefined || format.fitResponse === undefined || status >= 400 || !Buffer.isBuffer(body)) return response;
	const fitted = await runCooperatively(body.length, format.fitResponse(body, members));
	return fitted === undefined ? response : { ...response, body: fitted };
}

export function readObject(body: Buffer): JsonObject | undefined {
	try {
		const value = parseExactly(body.toString());
		// Google's servers wrap errors in a list of one.
		const reported: unknown = Array.isArray(value) ? value[0] : value;
		return isJsonObject(reported) ? reported : undefined;
	} catch {
		return undefined;
	}
}

/** Converts an error that concerns the gateway to 502 with the provider's own body. Client errors pass. */
function renderError(
	inferenceRequest: PreparedRequest,
	providerResponse: ProviderResponse,
	code: UpstreamErrorCode | undefined,
	body: Buffer,
	headers: Record<string, string>,
	scope: RequestScope,
): HttpResponse {
	const { response } = providerResponse;
	const { provider } = inferenceRequest;
	const spendStop = isSpendStop(providerResponse, provider.protocol);
	if (spendStop || (code !== undefined && isPermanent(code))) headers['x-should-retry'] = 'false';
	const status = code === undefined ? response.status : 502;
	if (code !== undefined) headers['x-gateway-upstream-status'] = String(response.status);
	if (inferenceRequest.translated !== undefined) {
		return translateError(inferenceRequest, inferenceRequest.translated, response.status, body, headers, scope, status, spendStop);
	}
	// A compressed body cannot be searched for the key, so it is not sent.
	if (!isEncoded(response.headers) && (body.length > 0 || code === undefined)) {
		return { status, headers, body: scrubSecrets(body, provider.secrets), record: scope.recorder.record };
	}
	headers['content-type'] = 'application/json';
	delete headers['content-encoding'];
	const failure = describeFailure(new UpstreamError(code ?? 'provider_response_invalid'), inferenceRequest.request.id);
	return { status, headers, body: renderGatewayError({ ...failure, status }), record: scope.recorder.record };
}

function translateError(
	{ provider }: PreparedRequest,
	{ translation, inferenceRequest }: NonNullable<PreparedRequest['translated']>,
	upstreamStatus: number,
	body: Buffer,
	headers: Record<string, string>,
	scope: RequestScope,
	status: number,
	spendStop: boolean,
): HttpResponse {
	const call = { ...inferenceRequest, isSpendStop: spendStop };
	const error = translation.translateError(upstreamStatus, readObject(body) ?? readPlainText(body, headers), call);
	headers['content-type'] = 'application/json';
	delete headers['content-encoding'];
	if (error.retryAfterSeconds !== undefined) headers['retry-after'] ??= String(error.retryAfterSeconds);
	return { status, headers, body: scrubSecrets(Buffer.from(JSON.stringify(error.body)), provider.secrets), record: scope.recorder.record };
}

/** Maximum length of a plain-text error message. */
const maxPlainBytes = 4096;

/** Reads plain text, in which proxies in front of a provider report errors. */
function readPlainText(body: Buffer, headers: HeaderFields): JsonObject | undefined {
	if (mediaTypeOf(headers) !== 'text/plain' || isEncoded(headers) || body.length > maxPlainBytes) return undefined;
	return { message: body.toString().trim() };
}

/** Maps a provider's status to an upstream error; undefined for a client error. */
function upstreamErrorOf(status: number): UpstreamErrorCode | undefined {
	if (status === 401 || status === 403) return 'provider_key_rejected';
	if (status === 404) return 'provider_model_unknown';
	return status >= 500 ? 'provider_failed' : undefined;
}
