/** Formats responses as the bytes and header lists that `node:http` takes. */
import { connectionFields } from '../../../core/connection-fields.ts';
import type { HeaderFields, HttpResponse } from '../../../core/handler.ts';
import { http } from '../../node-http.ts';

const { STATUS_CODES } = http;

/** Fields that the connection decides, not the handler; only the server writes them. */
const ownNames: ReadonlySet<string> = new Set(connectionFields);

export interface ResponseFields {
	readonly headers: HeaderFields;
	readonly requestId: string;
	/** Length of the body in bytes; undefined if the handler's own `content-length` applies. */
	readonly contentLength: number | undefined;
	readonly closesConnection: boolean;
}

/**
 * Returns alternating names and values for `ServerResponse.writeHead`. Every response carries the request id under both vendors' names,
 * because each SDK reads only its own. An id that the handler set is kept.
 */
export function headerList(head: ResponseFields): string[] {
	const { headers, requestId, contentLength } = head;
	const list: string[] = [];
	for (const name in headers) {
		const value = headers[name];
		if (value === undefined || ownNames.has(name)) continue;
		if (contentLength !== undefined && name === 'content-length') continue;
		if (typeof value === 'string') list.push(name, value);
		else for (const item of value) list.push(name, item);
	}
	if (headers['x-request-id'] === undefined) list.push('x-request-id', requestId, 'request-id', requestId);
	if (contentLength !== undefined) list.push('content-length', String(contentLength));
	if (head.closesConnection) list.push('connection', 'close');
	return list;
}

/** Formats a complete response for a socket without a valid request. A streamed body is omitted. */
export function rawResponse(response: HttpResponse, requestId: string): Buffer {
	const body = fullBody(response) ?? Buffer.alloc(0);
	const list = headerList({ headers: response.headers, requestId, contentLength: body.length, closesConnection: true });
	let head = `HTTP/1.1 ${response.status} ${STATUS_CODES[response.status] ?? 'Unknown'}\r\n`;
	for (let index = 0; index + 1 < list.length; index += 2) head += `${list[index]}: ${list[index + 1]}\r\n`;
	return Buffer.concat([Buffer.from(`${head}date: ${new Date().toUTCString()}\r\n\r\n`, 'latin1'), body]);
}

function fullBody({ body }: HttpResponse): Buffer | undefined {
	if (typeof body === 'string') return Buffer.from(body);
	return Buffer.isBuffer(body) ? body : undefined;
}

/** Response to an unexpected error: one that no role rendered, or an internal error. Contains only the request id and `title`. */
export function plainErrorResponse(status: number, title: string, code: string, requestId: string): HttpResponse {
	const error = { type: 'error', error: { type: 'api_error', message: title, code, param: null }, request_id: requestId };
	return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(error), record: { code } };
}
