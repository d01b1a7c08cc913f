import { readAll, takeAll, tooLargeMessage, wrapStream } from '../../../core/byte-stream.ts';
import { type CooperativeTask, runSynchronously, yieldToEventLoop } from '../../../core/cooperative-task.ts';
import type { ByteStream, HeaderFields, HttpRequest } from '../../../core/handler.ts';
import { hashText } from '../../../core/hash-text.ts';
import { Rejection } from '../../../core/rejection.ts';
import type { BodyMemoryReservation } from '../../../policy/overload/body-memory-budget.ts';
import type { ClientDialect } from '../../../wire/dialects/dialect.ts';
import { dialects } from '../../../wire/dialects/dialects.ts';
import type { StateMode } from '../../../wire/dialects/state.ts';
import type { Endpoint } from '../../../wire/endpoints/endpoint.ts';
import { type JsonBody, type JsonObject, parseBody, parsingSteps } from '../../../wire/json/parse-body.ts';
import type { GatewaySettings } from '../gateway-settings.ts';

/** One inference request, parsed and validated. */
export interface InferenceRequest {
	readonly request: HttpRequest;
	readonly endpoint: Endpoint;
	/** Dialect of the endpoint. */
	readonly format: ClientDialect;
	readonly body: JsonBody;
	/** Model name as received, or of the substitution. */
	readonly model: string;
	readonly isStreaming: boolean;
	readonly stateMode: StateMode;
	/** Hash of the session that the client names: its requests get the same target. */
	readonly session: number | undefined;
	/** Set if another model serves the request than the client asked for, because of a budget. */
	readonly substitution?: Substitution | undefined;
}

export interface Substitution {
	/** Model in place of the requested one, as clients name it. */
	readonly model: string;
	readonly warning: string;
}

/** Members whose range in the body is recorded, so that they can be edited in place. */
export const locatedMembers: ReadonlySet<string> = new Set([
	'model',
	...Object.values(dialects).flatMap(({ editedMembers }) => editedMembers),
]);

const charsets: ReadonlySet<string> = new Set(['utf-8', 'utf8', 'us-ascii']);

/**
 * Reads and validates the body. Rejections based on header fields come before a byte is read.
 * @param reservation reserves memory for the body. Nothing is counted by default.
 * @throws `Rejection` `media_type_unsupported`, `content_encoding_unsupported`, `overloaded`, `body_*`, `field_*`.
 */
export function readInferenceRequest(
	request: HttpRequest,
	endpoint: Endpoint,
	{ maxBodyBytes, responses }: Pick<GatewaySettings, 'maxBodyBytes' | 'responses'>,
	reservation?: BodyMemoryReservation,
): InferenceRequest | Promise<InferenceRequest> {
	const stateMode = responses?.state ?? 'off';
	requireJson(request.headers);
	if (request.announcedLength !== undefined && request.announcedLength > maxBodyBytes) {
		throw new Rejection('body_too_large', { message: tooLargeMessage(maxBodyBytes) });
	}
	const body = withBodyMemory(request, reservation);
	const bytes = takeAll(body, maxBodyBytes);
	if (bytes !== undefined && !isLargeBody(bytes.length)) {
		return toInferenceRequest(request, endpoint, parseBody(bytes, locatedMembers), stateMode);
	}
	return awaitInferenceRequest(request, endpoint, bytes ?? readAll(body, maxBodyBytes, request.announcedLength), stateMode);
}

/** Reads a body that has not arrived yet, or is large. */
async function awaitInferenceRequest(
	request: HttpRequest,
	endpoint: Endpoint,
	body: Buffer | Promise<Buffer>,
	stateMode: StateMode,
): Promise<InferenceRequest> {
	const bytes = await body;
	return runCooperatively(bytes.length, readingSteps(request, endpoint, bytes, stateMode));
}

function* readingSteps(request: HttpRequest, endpoint: Endpoint, bytes: Buffer, stateMode: StateMode): CooperativeTask<InferenceRequest> {
	const inferenceRequest = toInferenceRequest(request, endpoint, yield* parsingSteps(bytes, locatedMembers), stateMode);
	yield;
	return inferenceRequest;
}

/** @throws `Rejection` `field_*`. */
function toInferenceRequest(request: HttpRequest, endpoint: Endpoint, body: JsonBody, stateMode: StateMode): InferenceRequest {
	const { members } = body;
	const { dialect: format, canStream } = endpoint;
	format.validate(members, stateMode);
	const session = sessionOf(request.headers, format, members);
	const isStreaming = canStream && members.stream === true;
	return { request, endpoint, format, body, model: String(members.model), isStreaming, stateMode, session };
}

/** Maximum of characters of a session that are hashed, because clients choose its length. */
const maxHashedSession = 4096;

/** Header fields precede fields of the body, which name less. Claude Code names its sessions by itself. */
function sessionOf(headers: HeaderFields, format: ClientDialect, members: JsonObject): number | undefined {
	const session =
		sessionIn(headers['x-gateway-session']) ?? sessionIn(headers['x-claude-code-session-id']) ?? sessionIn(format.sessionOf?.(members));
	return session === undefined ? undefined : hashText(session.slice(0, maxHashedSession));
}

function sessionIn(value: unknown): string | undefined {
	return typeof value === 'string' && value !== '' ? value : undefined;
}

/** True for a request whose response the provider generates after the client has got its own. */
export function runsInBackground({ format, body }: Pick<InferenceRequest, 'format' | 'body'>): boolean {
	return format.state?.runsInBackground(body.members) === true;
}

/** Returns the body once memory is reserved for it; chunk by chunk if its length is unknown. @throws `Rejection` `overloaded` */
function withBodyMemory({ body, announcedLength }: HttpRequest, reservation: BodyMemoryReservation | undefined): ByteStream {
	if (reservation === undefined) return body;
	if (announcedLength !== undefined) {
		reservation.grow(announcedLength);
		return body;
	}
	return wrapStream(body, (sink, flow) => ({
		write(chunk) {
			try {
				reservation.grow(chunk.length);
			} catch (cause) {
				flow.cancel();
				sink.fail(cause);
				return false;
			}
			return sink.write(chunk);
		},
		end: () => sink.end(),
		fail: (cause) => sink.fail(cause),
	}));
}

function requireJson(headers: HeaderFields): void {
	const contentType = headers['content-type'];
	if (contentType !== 'application/json' && !isJson(String(contentType ?? ''))) throw new Rejection('media_type_unsupported');
	const encoding = headers['content-encoding']?.toString().toLowerCase();
	if (encoding !== undefined && encoding !== 'identity') throw new Rejection('content_encoding_unsupported');
}

/** JSON is UTF-8 (RFC 8259 section 8.1): another `charset` is rejected, other parameters are ignored. */
function isJson(contentType: string): boolean {
	const [mediaType = '', ...parameters] = contentType.toLowerCase().split(';');
	if (mediaType.trim() !== 'application/json') return false;
	return parameters.every((parameter) => {
		const [name = '', value = ''] = parameter.split('=');
		return name.trim() !== 'charset' || charsets.has(value.trim().replaceAll('"', ''));
	});
}

/** Reading, translating and writing a body of 1 MB take milliseconds each. */
const largeBodyBytes = 256 * 1024;

export function isLargeBody(bodyBytes: number): boolean {
	return bodyBytes > largeBodyBytes;
}

/** Processes a body in steps; for a large one, yields to the event loop after each. */
export function runCooperatively<Result>(bodyBytes: number, steps: CooperativeTask<Result>): Result | Promise<Result> {
	return isLargeBody(bodyBytes) ? turnByTurn(steps) : runSynchronously(steps);
}

async function turnByTurn<Result>(steps: CooperativeTask<Result>): Promise<Result> {
	for (;;) {
		const step = steps.next();
		if (step.done === true) return step.value;
		await yieldToEventLoop();
	}
}
