import { discardStream, gather, streamOf } from '../../../core/byte-stream.ts';
import type { ByteStream } from '../../../core/handler.ts';
import { Rejection } from '../../../core/rejection.ts';
import type { UpstreamRequest, UpstreamResponse, UpstreamTimeouts } from '../../../core/upstream.ts';
import { UpstreamError } from '../../../core/upstream-error.ts';
import { measureInput } from '../../../policy/budgets/estimate.ts';
import type { Estimate } from '../../../wire/endpoints/endpoint.ts';
import { type Edit, spliceBody, splicedPieces } from '../../../wire/json/splice-body.ts';
import type { Protocol } from '../../../wire/providers/protocol.ts';
import { isEncoded, mediaTypeOf } from '../../../wire/providers/relayed-headers.ts';
import { type ReportedUsage, readReportedUsage } from '../../../wire/usage/usage-meter.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import type { BodyEdits, Permit } from '../request-scope/permit.ts';
import type { RequestScope, Resource } from '../request-scope/request-scope.ts';
import type { PreparedRequest } from './prepare-request.ts';

/** Response of the provider: complete, or a stream that has just begun. */
export interface ProviderResponse {
	readonly response: UpstreamResponse;
	/** Meaning of the status: that of the response, except 401 for every form of a rejected provider key. */
	readonly status: number;
	readonly body: Buffer | ByteStream;
	/** Parsed success that is complete and uncompressed; otherwise undefined. */
	readonly reported: ReportedUsage | undefined;
	/** Time from sending the request to the complete response, or to a stream's head. Undefined if no provider was involved. */
	readonly upstreamMs: number | undefined;
}

/** Limits of responses in memory, larger than any real one: 2,048 vectors of 3,072 numbers have about 130 MB as JSON. */
const maxResponseBytes = { generated: 64 * 1024 * 1024, computed: 256 * 1024 * 1024 };
const maxErrorBytes = 1024 * 1024;

/**
 * Sends the request to its target, once.
 * @param sentMs the time, by the monotonic clock.
 * @returns a fault if the provider sent no valid response: no connection, no byte in time, an endless error, or a page.
 * @throws `Rejection` `field_invalid`, also synchronously; `UpstreamError` `provider_*` once a response has begun; the reason of an abort.
 */
export function sendRequest(
	inferenceRequest: PreparedRequest,
	permit: Permit,
	scope: RequestScope,
	timeouts: UpstreamTimeouts,
	sentMs: number,
	{ ports, guardrailRunner }: GatewayDeps,
): Promise<ProviderResponse | UpstreamError> {
	const { request, provider, target, translated, endpoint, providerFormat } = inferenceRequest;
	const query = translated === undefined ? request.query : '';
	let sending: Resource | undefined;
	const outgoing: UpstreamRequest = {
		origin: provider.origin,
		method: endpoint.methodWithoutBody ?? 'POST',
		target: endpoint.locate(provider, providerFormat.name, target.model, query, inferenceRequest.isStreaming),
		headers: provider.requestHeaders(translated?.headers ?? request.headers),
		body: endpoint.methodWithoutBody === undefined ? sentBody(inferenceRequest, permit.edits) : null,
		timeouts,
		canReachPrivateNetwork: provider.canReachPrivateNetwork,
		proxy: provider.proxy,
		onSent: () => permit.markSent(),
		onClientDisconnect: (listener) => {
			sending = { abort: listener, release: () => listener() };
			scope.attach(sending);
		},
	};
	const providerResponseOf = (response: UpstreamResponse, body: ProviderResponse['body']): ProviderResponse => ({
		response,
		status: meaningOf(response.status, body, provider.protocol),
		body,
		reported: readSuccess(response, body, inferenceRequest, permit.hasHostedTools),
		upstreamMs: ports.clock.monotonicMs() - sentMs,
	});
	const readResponse = (response: UpstreamResponse): ProviderResponse | Promise<ProviderResponse | UpstreamError> | UpstreamError => {
		scope.drop(sending);
		requireWanted(response, scope);
		scope.recorder.beginResponse(response.status, ports.clock.monotonicMs() - request.arrivedMs);
		if (response.status >= 400) permit.markRejected();
		const toUpstreamError = (cause: unknown): UpstreamError => {
			if (response.status >= 400 || (cause instanceof UpstreamError && cause.code === 'provider_response_invalid')) {
				return upstreamErrorIn(cause);
			}
			throw cause;
		};
		try {
			const body = readProviderResponse(
				inferenceRequest,
				response,
				scope,
				guardrailRunner?.isEnforced(scope.recorder.team?.id ?? '') === true && endpoint.response === 'generated',
			);
			return body instanceof Promise
				? body.then((whole) => providerResponseOf(response, whole)).catch(toUpstreamError)
				: providerResponseOf(response, body);
		} catch (cause) {
			return toUpstreamError(cause);
		}
	};
	return ports.upstream(outgoing).then(readResponse, (cause: unknown) => {
		scope.drop(sending);
		return upstreamErrorIn(cause);
	});
}

/** @throws the cause if it is no fault. */
function upstreamErrorIn(cause: unknown): UpstreamError {
	if (cause instanceof UpstreamError) return cause;
	throw cause;
}

function meaningOf(status: number, body: ProviderResponse['body'], { keyRejection }: Pick<Protocol, 'keyRejection'>): number {
	return status === 400 && keyRejection !== undefined && Buffer.isBuffer(body) && body.includes(keyRejection) ? 401 : status;
}

/** Returns true for a 429 about exhausted credit instead of a rate limit, for which retries are useless. */
export function isSpendStop({ response, body }: ProviderResponse, { spendStops }: Pick<Protocol, 'spendStops'>): boolean {
	return response.status === 429 && Buffer.isBuffer(body) && spendStops.some((stop) => body.includes(stop));
}

/** @throws UpstreamError `provider_response_invalid` for a page that claims to be JSON, and for a truncated response. */
function readSuccess(
	response: UpstreamResponse,
	body: ProviderResponse['body'],
	{ providerFormat }: PreparedRequest,
	hasHostedTools: boolean,
): ReportedUsage | undefined {
	if (response.status >= 400 || !Buffer.isBuffer(body) || isEncoded(response.headers)) return undefined;
	const reported = readReportedUsage(body, providerFormat.usage, hasHostedTools);
	if (reported.isObject) return reported;
	throw new UpstreamError('provider_response_invalid', { message: 'The provider returned 200 with a body that is not a JSON object' });
}

/** Builds the response instead of a provider. */
export function estimatedResponse({ format, body, knownAs }: PreparedRequest, estimate: Estimate): ProviderResponse {
	const { writtenTokens } = measureInput(body, format.inputContent(body.members), knownAs);
	const bytes = Buffer.from(JSON.stringify(estimate.respond(writtenTokens)));
	const response = { status: 200, headers: { 'content-type': 'application/json' }, body: streamOf([]) };
	return { response, status: 200, body: bytes, reported: undefined, upstreamMs: undefined };
}

/**
 * Reads the body. A success must have the requested type; an error can have any.
 * @param isEvaluated true if guardrails read the response, which must then be uncompressed.
 */
function readProviderResponse(
	inferenceRequest: PreparedRequest,
	response: UpstreamResponse,
	scope: RequestScope,
	isEvaluated: boolean,
): Buffer | Promise<Buffer> | ByteStream {
	if (response.status >= 400) return readCompleteResponse(response, scope, maxErrorBytes);
	requireSuccess(response, inferenceRequest.isStreaming ? 'text/event-stream' : 'application/json');
	if ((inferenceRequest.translated !== undefined || isEvaluated) && isEncoded(response.headers)) {
		discardStream(response.body);
		throw new UpstreamError('provider_response_invalid', {
			message: 'The provider returned a compressed response, which was not requested',
		});
	}
	return inferenceRequest.isStreaming
		? response.body
		: readCompleteResponse(response, scope, maxResponseBytes[inferenceRequest.endpoint.response]);
}

/** Returns the body to send. All bytes are kept, except for the model name of an alias, the option for usage, and an added output cap. */
export function bodyFor(inferenceRequest: PreparedRequest, permitted: BodyEdits): Buffer {
	const { bytes } = inferenceRequest.outgoing;
	const edits = editsFor(inferenceRequest, permitted);
	return edits.length === 0 ? bytes : spliceBody(bytes, edits);
}

/**
 * Removes encrypted reasoning that the provider rejected, because another account generated it.
 * @returns undefined for any other response, and for a request that was repaired before.
 */
export function withoutUndecryptable(
	inferenceRequest: PreparedRequest,
	{ response, body }: ProviderResponse,
	permitted: BodyEdits,
): PreparedRequest | undefined {
	const { undecryptableReasoning: repair } = inferenceRequest.providerFormat;
	if (response.status !== 400 || repair === undefined || inferenceRequest.repairedBytes !== undefined) return undefined;
	if (!Buffer.isBuffer(body) || !repair.isRejected(body)) return undefined;
	const { outgoing } = inferenceRequest;
	const cuts = repair.cuts(outgoing);
	if (cuts.length === 0) return undefined;
	return { ...inferenceRequest, repairedBytes: spliceBody(outgoing.bytes, [...editsFor(inferenceRequest, permitted), ...cuts]) };
}

/** Above this size, a second copy costs more than writing several chunks. */
const maxCopiedBytes = 262_144;

function sentBody(inferenceRequest: PreparedRequest, permitted: BodyEdits): Buffer | readonly Buffer[] {
	if (inferenceRequest.repairedBytes !== undefined) return inferenceRequest.repairedBytes;
	const { bytes } = inferenceRequest.outgoing;
	return bytes.length <= maxCopiedBytes
		? bodyFor(inferenceRequest, permitted)
		: splicedPieces(bytes, editsFor(inferenceRequest, permitted));
}

const none: readonly Edit[] = [];

function editsFor(
	{ outgoing: body, target, providerFormat, stateMode }: PreparedRequest,
	{ capEdits, usageEdits }: BodyEdits,
): readonly Edit[] {
	const { model } = body.members;
	const range = model === undefined || model === target.model ? undefined : body.ranges.get('model');
	const edits = [...capEdits, ...usageEdits, ...(providerFormat.storageEdits?.(body, stateMode) ?? none)];
	if (range !== undefined) edits.push({ ...range, text: JSON.stringify(target.model) });
	return edits;
}

/** @throws UpstreamError `provider_response_invalid` */
function requireSuccess(response: UpstreamResponse, expected: 'text/event-stream' | 'application/json'): void {
	const mediaType = mediaTypeOf(response.headers);
	if (response.status === 200 && mediaType === expected) return;
	discardStream(response.body);
	throw new UpstreamError('provider_response_invalid', {
		message: `The provider returned ${response.status} with ${mediaType === '' ? 'no content type' : `\`${mediaType}\``} instead of 200 with \`${expected}\``,
	});
}

/** Checks for an abort in the same turn of the event loop as the start of the response. @throws the reason of an abort. */
function requireWanted(response: UpstreamResponse, scope: RequestScope): void {
	if (scope.isAborted) discardStream(response.body);
	scope.requireRunning();
}

/**
 * Reads a response to its end.
 * @throws UpstreamError `provider_response_invalid` if it is longer; the error of the stream, or the reason of an abort.
 */
function readCompleteResponse(response: UpstreamResponse, scope: RequestScope, maxBytes: number): Buffer | Promise<Buffer> {
	const whole = response.body.takeAll?.();
	if (whole === undefined) return awaitResponse(response, scope, maxBytes);
	if (whole.length > maxBytes) throw tooLong(maxBytes);
	return whole;
}

function awaitResponse(response: UpstreamResponse, scope: RequestScope, maxBytes: number): Promise<Buffer> {
	return scope.wait((resolve, reject) => {
		const flow = gather(response.body, maxBytes, resolve, (cause) => reject(cause instanceof Rejection ? tooLong(maxBytes) : cause));
		return () => flow.cancel();
	});
}

function tooLong(maxBytes: number): UpstreamError {
	return new UpstreamError('provider_response_invalid', { message: `The provider's response is larger than ${maxBytes} bytes` });
}
