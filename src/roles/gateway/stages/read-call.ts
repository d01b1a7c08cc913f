import { readWhole, tooLargeMessage } from '../../../core/byte-stream.ts';
import type { HeaderFields, HttpRequest } from '../../../core/handler.ts';
import { Refusal } from '../../../core/refusal.ts';
import type { Format } from '../../../wire/formats/format.ts';
import { type JsonBody, parseBody } from '../../../wire/json/parse-body.ts';

/** One inference request, read and found sound. */
export interface Call {
	readonly request: HttpRequest;
	readonly format: Format;
	readonly body: JsonBody;
	/** As the caller named it. */
	readonly model: string;
	readonly isStreamed: boolean;
}

/** Members whose place in the body must be known, so that they can be changed alone. */
export const placedMembers: ReadonlySet<string> = new Set(['model', 'stream_options', 'max_tokens', 'max_completion_tokens']);

const charsets: ReadonlySet<string> = new Set(['utf-8', 'utf8', 'us-ascii']);

/**
 * Reads and checks the body. What can be refused by the header fields is refused before a byte is read.
 * @throws Refusal `media_type_unsupported`, `content_encoding_unsupported`, `body_*`, `field_*`.
 */
export async function readCall(request: HttpRequest, format: Format, maxBodyBytes: number): Promise<Call> {
	requireJson(request.headers);
	if (request.announcedLength !== undefined && request.announcedLength > maxBodyBytes) {
		throw new Refusal('body_too_large', { message: tooLargeMessage(maxBodyBytes) });
	}
	const body = parseBody(await readWhole(request.body, maxBodyBytes), placedMembers);
	format.validate(body.members);
	return { request, format, body, model: String(body.members.model), isStreamed: body.members.stream === true };
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
