/** Parses response heads strictly. A head that two parsers could read differently is rejected. */
import { connectionFields } from '../../../core/connection-fields.ts';
import type { HeaderFields } from '../../../core/handler.ts';

export interface ResponseHead {
	readonly status: number;
	/** Header fields except those of the connection. Repeated fields are joined with commas, except `set-cookie`, which stays a list. */
	readonly headers: HeaderFields;
	/** Framing of the body: a number of bytes, chunks, or everything until the connection ends. */
	readonly framing: number | 'chunked' | 'until_end';
	/** Idle time that the server announces for the connection; undefined if it announces none, 0 if the connection closes. */
	readonly restMs: number | undefined;
}

/** The bytes of a server are not an HTTP/1.1 response. */
export class MalformedResponse extends Error {
	override readonly name = 'MalformedResponse';
}

/** Hop-by-hop fields (RFC 9110 section 7.6.1). */
const hopByHopNames: ReadonlySet<string> = new Set([
	...connectionFields,
	'proxy-authenticate',
	'proxy-authentication-info',
	'proxy-authorization',
]);

/** Common header names of providers, by length. A name in this list needs no new string for each head. */
const commonNames: string[][] = [];

for (const name of [
	...hopByHopNames,
	'access-control-expose-headers',
	'alt-svc',
	'anthropic-organization-id',
	'anthropic-ratelimit-requests-limit',
	'anthropic-ratelimit-requests-remaining',
	'anthropic-ratelimit-requests-reset',
	'anthropic-ratelimit-tokens-limit',
	'anthropic-ratelimit-tokens-remaining',
	'anthropic-ratelimit-tokens-reset',
	'apim-request-id',
	'cache-control',
	'cf-cache-status',
	'cf-ray',
	'content-encoding',
	'content-length',
	'content-type',
	'date',
	'openai-organization',
	'openai-processing-ms',
	'openai-project',
	'openai-version',
	'request-id',
	'retry-after',
	'server',
	'server-timing',
	'set-cookie',
	'strict-transport-security',
	'vary',
	'via',
	'x-content-type-options',
	'x-envoy-upstream-service-time',
	'x-ms-region',
	'x-ratelimit-limit-requests',
	'x-ratelimit-limit-tokens',
	'x-ratelimit-remaining-requests',
	'x-ratelimit-remaining-tokens',
	'x-ratelimit-reset-requests',
	'x-ratelimit-reset-tokens',
	'x-request-id',
	'x-should-retry',
]) {
	(commonNames[name.length] ??= []).push(name);
}

/** Lines that end with CRLF, without folding and without control characters except tabs. */
const wellFormed = /^HTTP\/1\.[01] [1-9]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?\r\n(?:[\w!#$%&'*+.^`|~-]+:[\t\x20-\x7e\x80-\xff]*\r\n)*\r\n$/;

const length = /^\d{1,15}$/;

/**
 * @param text head with its empty line, one character for each byte.
 * @param method of the request.
 * @throws MalformedResponse
 */
export function readResponseHead(text: string, method: string): ResponseHead {
	if (!wellFormed.test(text)) throw new MalformedResponse('The response header block is not valid HTTP');
	const status = Number(text.slice(9, 12));
	const headers: Record<string, string | string[]> = {};
	const ofConnection: Record<string, string> = {};
	for (let start = text.indexOf('\r\n') + 2; ; ) {
		const end = text.indexOf('\r\n', start);
		if (end === start) break;
		const colon = text.indexOf(':', start);
		const name = nameAt(text, start, colon);
		const value = trimmed(text, colon + 1, end);
		if (hopByHopNames.has(name)) ofConnection[name] = joined(ofConnection[name], value);
		else addField(headers, name, value);
		start = end + 2;
	}
	const framing = framingOf(status, method, headers['content-length'], ofConnection['transfer-encoding']);
	const { connection } = ofConnection;
	if (connection !== undefined) omitNamed(headers, connection);
	const goesOn = text.startsWith('HTTP/1.1') && framing !== 'until_end' && !/\bclose\b/i.test(connection ?? '');
	return { status, headers, framing, restMs: goesOn ? restOf(ofConnection['keep-alive']) : 0 };
}

const fieldName = /^[\w!#$%&'*+.^`|~-]+$/;
const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Applies the same rules to a head that another parser has read.
 * @param rawFields alternating names and values, one character for each byte.
 * @throws MalformedResponse
 */
export function responseHeadOf(status: number, rawFields: readonly string[], method: string): ResponseHead {
	const headers: Record<string, string | string[]> = {};
	const ofConnection: Record<string, string> = {};
	for (let index = 0; index + 1 < rawFields.length; index += 2) {
		const name = rawFields[index] ?? '';
		const value = rawFields[index + 1] ?? '';
		if (!fieldName.test(name) || !fieldValue.test(value)) throw new MalformedResponse('The response header block is not valid HTTP');
		const lowerCaseName = name.toLowerCase();
		const trimmedValue = trimmed(value, 0, value.length);
		if (hopByHopNames.has(lowerCaseName)) ofConnection[lowerCaseName] = joined(ofConnection[lowerCaseName], trimmedValue);
		else addField(headers, lowerCaseName, trimmedValue);
	}
	const framing = framingOf(status, method, headers['content-length'], ofConnection['transfer-encoding']);
	if (ofConnection['connection'] !== undefined) omitNamed(headers, ofConnection['connection']);
	return { status, headers, framing, restMs: restOf(ofConnection['keep-alive']) };
}

function nameAt(text: string, start: number, end: number): string {
	const candidates = commonNames[end - start];
	if (candidates !== undefined) for (const name of candidates) if (isAt(text, start, name)) return name;
	return text.slice(start, end).toLowerCase();
}

/** Compares letters without case. Other characters of names match only themselves. */
function isAt(text: string, start: number, name: string): boolean {
	for (let at = 0; at < name.length; at++) if ((text.charCodeAt(start + at) | 0x20) !== name.charCodeAt(at)) return false;
	return true;
}

function addField(headers: Record<string, string | string[]>, name: string, value: string): void {
	const earlier = headers[name];
	// Every object inherits members such as `constructor`.
	if (earlier === undefined || !Object.hasOwn(headers, name)) headers[name] = name === 'set-cookie' ? [value] : value;
	else if (typeof earlier === 'string') headers[name] = joined(earlier, value);
	else earlier.push(value);
}

/** Trims spaces and tabs only; other whitespace characters are bytes of the value. */
function trimmed(text: string, from: number, to: number): string {
	let [start, end] = [from, to];
	while (start < end && isBlank(text.charCodeAt(start))) start++;
	while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
	return text.slice(start, end);
}

function isBlank(code: number): boolean {
	return code === 0x20 || code === 0x09;
}

function joined(earlier: string | undefined, value: string): string {
	return earlier === undefined ? value : `${earlier}, ${value}`;
}

/** The usual values of `connection` name no further field. */
function omitNamed(headers: Record<string, unknown>, connection: string): void {
	if (/^(?:keep-alive|close)$/i.test(connection)) return;
	for (const name of connection.split(',')) delete headers[name.trim().toLowerCase()];
}

function framingOf(
	status: number,
	method: string,
	announced: string | string[] | undefined,
	transferEncoding: string | undefined,
): ResponseHead['framing'] {
	if (announced !== undefined && (transferEncoding !== undefined || typeof announced !== 'string' || !length.test(announced))) {
		throw new MalformedResponse('The response has conflicting or invalid length headers');
	}
	if (transferEncoding !== undefined && transferEncoding.toLowerCase() !== 'chunked') {
		throw new MalformedResponse('The response has an unsupported transfer encoding');
	}
	if (method === 'HEAD' || status < 200 || status === 204 || status === 304) return 0;
	if (transferEncoding !== undefined) return 'chunked';
	return announced === undefined ? 'until_end' : Number(announced);
}

function restOf(keepAlive: string | undefined): number | undefined {
	const seconds = keepAlive === undefined ? null : /\btimeout=(\d{1,9})/i.exec(keepAlive);
	return seconds === null ? undefined : Number(seconds[1]) * 1000;
}
