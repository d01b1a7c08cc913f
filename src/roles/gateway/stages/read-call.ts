import { readWhole, takeWhole, tooLargeMessage, wrapStream } from '../../../core/byte-stream.ts';
import type { ByteStream, HeaderFields, HttpRequest } from '../../../core/handler.ts';
import { Refusal } from '../../../core/refusal.ts';
import { atOnce, ownTurn, type Steps } from '../../../core/steps.ts';
import type { BodyHold } from '../../../policy/overload/body-space.ts';
import type { ClientDialect } from '../../../wire/dialects/dialect.ts';
import { dialects } from '../../../wire/dialects/dialects.ts';
import type { Endpoint } from '../../../wire/endpoints/endpoint.ts';
import { type JsonBody, parseBody, parsingSteps } from '../../../wire/json/parse-body.ts';

/** One inference request, read and found sound. */
export interface Call {
	readonly request: HttpRequest;
	readonly endpoint: Endpoint;
	/** The endpoint's. */
	readonly format: ClientDialect;
	readonly body: JsonBody;
	/** As the caller named it. */
	readonly model: string;
	readonly isStreamed: boolean;
}

/** Members whose place in the body must be known, so that they can be changed alone. */
export const placedMembers: ReadonlySet<string> = new Set([
	'model',
	...Object.values(dialects).flatMap(({ editedMembers }) => editedMembers),
]);

const charsets: ReadonlySet<string> = new Set(['utf-8', 'utf8', 'us-ascii']);

/**
 * Reads and checks the body. What can be refused by the header fields is refused before a byte is read.
 * @param hold gets room for the body. None is counted unless given.
 * @throws Refusal `media_type_unsupported`, `content_encoding_unsupported`, `overloaded`, `body_*`, `field_*`.
 */
export function readCall(request: HttpRequest, endpoint: Endpoint, maxBodyBytes: number, hold?: BodyHold): Call | Promise<Call> {
	requireJson(request.headers);
	if (request.announcedLength !== undefined && request.announcedLength > maxBodyBytes) {
		throw new Refusal('body_too_large', { message: tooLargeMessage(maxBodyBytes) });
	}
	const body = withRoom(request, hold);
	const bytes = takeWhole(body, maxBodyBytes);
	if (bytes !== undefined && !isLargeBody(bytes.length)) return soundCall(request, endpoint, parseBody(bytes, placedMembers));
	return awaitCall(request, endpoint, bytes ?? readWhole(body, maxBodyBytes, request.announcedLength));
}

/** Of a body that is still to come, or that takes its time to be read. */
async function awaitCall(request: HttpRequest, endpoint: Endpoint, body: Buffer | Promise<Buffer>): Promise<Call> {
	const bytes = await body;
	return inTurns(bytes.length, readingSteps(request, endpoint, bytes));
}

function* readingSteps(request: HttpRequest, endpoint: Endpoint, bytes: Buffer): Steps<Call> {
	const call = soundCall(request, endpoint, yield* parsingSteps(bytes, placedMembers));
	yield;
	return call;
}

/** @throws Refusal `field_*`. */
function soundCall(request: HttpRequest, endpoint: Endpoint, body: JsonBody): Call {
	const { members } = body;
	const { dialect: format, canStream } = endpoint;
	format.validate(members);
	return { request, endpoint, format, body, model: String(members.model), isStreamed: canStream && members.stream === true };
}

/** The body, once there is room for it; where its length is not known, piece by piece. @throws Refusal `overloaded` */
function withRoom({ body, announcedLength }: HttpRequest, hold: BodyHold | undefined): ByteStream {
	if (hold === undefined) return body;
	if (announcedLength !== undefined) {
		hold.grow(announcedLength);
		return body;
	}
	return wrapStream(body, (sink, flow) => ({
		write(chunk) {
			try {
				hold.grow(chunk.length);
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
	if (contentType !== 'application/json' && !isJson(String(contentType ?? ''))) throw new Refusal('media_type_unsupported');
	const encoding = headers['content-encoding']?.toString().toLowerCase();
	if (encoding !== undefined && encoding !== 'identity') throw new Refusal('content_encoding_unsupported');
}

/** JSON is UTF-8 (RFC 8259 section 8.1): another `charset` is refused, other parameters mean nothing. */
function isJson(contentType: string): boolean {
	const [mediaType = '', ...parameters] = contentType.toLowerCase().split(';');
	if (mediaType.trim() !== 'application/json') return false;
	return parameters.every((parameter) => {
		const [name = '', value = ''] = parameter.split('=');
		return name.trim() !== 'charset' || charsets.has(value.trim().replaceAll('"', ''));
	});
}

/** One of 1 MB is read, translated and written in some milliseconds each. */
const largeBodyBytes = 256 * 1024;

export function isLargeBody(bodyBytes: number): boolean {
	return bodyBytes > largeBodyBytes;
}

/** Does what is to be done with a body; for a large one, others have their turn after each step. */
export function inTurns<Result>(bodyBytes: number, steps: Steps<Result>): Result | Promise<Result> {
	return isLargeBody(bodyBytes) ? turnByTurn(steps) : atOnce(steps);
}

async function turnByTurn<Result>(steps: Steps<Result>): Promise<Result> {
	for (;;) {
		const step = steps.next();
		if (step.done === true) return step.value;
		await ownTurn();
	}
}
