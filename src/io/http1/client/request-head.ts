import { isByteStream } from '../../../core/byte-stream.ts';
import { connectionFields } from '../../../core/connection-fields.ts';
import { memoizeByHeaders } from '../../../core/header-memo.ts';
import type { UpstreamRequest } from '../../../core/upstream.ts';
import { fieldLine } from '../field-line.ts';

const sendableMethod = /^[A-Z]+$/;
const sendableTarget = /^\/[!-~\x80-\xff]*$/;

const length = /^\d{1,15}$/;

/** Header fields that control how the connection is read. This client writes them itself. */
const ownNames: ReadonlySet<string> = new Set([...connectionFields, 'expect', 'host']);

/** Methods whose requests usually have a body. For others, a missing body needs no `content-length: 0`. */
const methodsWithBody: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

/** Writes everything before the body, one character for each byte. @throws Error if a part of it would break or change the head. */
export function requestHead({ origin, method, target, headers, body }: UpstreamRequest): string {
	if (!sendableMethod.test(method) || !sendableTarget.test(target)) throw new Error('The request has an invalid method or target');
	const host = origin.slice(origin.indexOf('://') + 3);
	const framing = framingLine(method, body, headers['content-length']);
	return `${method} ${target} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n${fieldsOf(headers)}${framing}\r\n`;
}

const fieldsOf = memoizeByHeaders((headers: UpstreamRequest['headers']) => {
	let fields = '';
	for (const name in headers) {
		if (name === 'content-length') continue;
		if (ownNames.has(name) || name !== name.toLowerCase()) throw new Error(`The header ${JSON.stringify(name)} is invalid`);
		fields += fieldLine(name, headers[name] ?? '');
	}
	return fields;
});

/** @param announced length from the headers, which must match the body. */
function framingLine(method: string, body: UpstreamRequest['body'], announced: string | undefined): string {
	const bytes = bodyLength(body);
	const known = bytes === undefined ? announced : String(bytes);
	const isWrong = announced !== undefined && (announced !== known || !length.test(announced));
	if (isWrong) throw new Error(`${JSON.stringify(announced)} is not the length of this body`);
	if (known === undefined) return 'transfer-encoding: chunked\r\n';
	return body === null && !methodsWithBody.has(method) ? '' : `content-length: ${known}\r\n`;
}

/** @returns undefined for a stream. */
export function bodyLength(body: UpstreamRequest['body']): number | undefined {
	if (isByteStream(body)) return undefined;
	if (body === null || Buffer.isBuffer(body)) return body?.length ?? 0;
	return body.reduce((sum, { length: bytes }) => sum + bytes, 0);
}
