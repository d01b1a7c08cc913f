/**
 * Rules for a request head beyond those of the parser, so that no two hops read it differently. Rejects heads that AWS's desync tiers call
 * ambiguous or severe, and those that RFC 9112 sections 3, 6 and 7 leave to the recipient.
 */
import { Rejection } from '../../../core/rejection.ts';
import { tokenHeaders } from '../../../policy/access/token-headers.ts';

export interface RequestHead {
	readonly method: string;
	readonly target: string;
	/** HTTP version, such as `1.1`. */
	readonly httpVersion: string;
	/** Alternating names and values, as received. */
	readonly rawHeaders: readonly string[];
}

/** More header fields than any client sends, and far below the 2000 from which the parser drops fields silently. */
const maxHeaderFields = 100;

/** Printable ASCII without space and `#`, after a first slash: neither a URL nor an authority nor `*`. */
const originForm = /^\/[!"$-~]*$/;

/** `uri-host [":" port]` without user information, path or list. */
const hostValue = /^(?:[A-Za-z0-9._~-]+|\[[0-9A-Fa-f:.]+\])(?::\d{0,5})?$/;

/** One decimal number in its canonical form: no sign, list or leading zero. */
const lengthValue = /^(?:0|[1-9]\d{0,14})$/;

/** A body has no defined meaning for these methods (RFC 9110 section 9.3), so hops disagree about its existence. */
const bodilessMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Names that affect this server or the next hop. Some servers treat `_` in them as `-`. */
const guardedNames: ReadonlySet<string> = new Set([
	...tokenHeaders,
	'connection',
	'content-encoding',
	'content-length',
	'content-type',
	'cookie',
	'forwarded',
	'host',
	'keep-alive',
	'proxy-authorization',
	'te',
	'trailer',
	'transfer-encoding',
	'upgrade',
	'x-real-ip',
]);
const guardedPrefixes = ['x-forwarded-', 'x-gateway-', 'proxy-authorization', 'content-length', 'transfer-encoding'];

/** Returns the rejection of a head, if it is invalid. The connection must close with the response. */
export function checkHead(head: RequestHead): Rejection | undefined {
	if (head.httpVersion !== '1.1' && head.httpVersion !== '1.0') return new Rejection('http_version_unsupported');
	if (head.method === 'TRACE' || head.method === 'CONNECT') return malformed(`The method ${head.method} is not supported`);
	if (!originForm.test(head.target)) return malformed('The request target must be a path of printable ASCII that begins with `/`');
	if (head.rawHeaders.length > 2 * maxHeaderFields) {
		return new Rejection('headers_too_large', { message: `The request has more than ${maxHeaderFields} header fields` });
	}
	return checkFields(head);
}

/** Fields of one head that frame the message or name its host. */
interface FramingFields {
	host: string | undefined;
	contentLength: string | undefined;
	transferEncoding: string | undefined;
	authorization: string | undefined;
}

function checkFields(head: RequestHead): Rejection | undefined {
	const { rawHeaders } = head;
	const seen: FramingFields = { host: undefined, contentLength: undefined, transferEncoding: undefined, authorization: undefined };
	for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
		const name = rawHeaders[index] ?? '';
		if (name.includes('_') && isGuarded(name)) return malformed(`The header name ${name} contains \`_\`, which some servers read as \`-\``);
		const field = framingField(name);
		if (field === undefined) continue;
		const value = rawHeaders[index + 1] ?? '';
		if (field === 'upgrade') {
			// The JDK's client offers h2c with its first plain HTTP request. A server may ignore the offer (RFC 9110 section 7.8).
			if (value.toLowerCase() !== 'h2c') return malformed('Protocol upgrades are not supported');
			continue;
		}
		if (seen[field] !== undefined) return malformed(`The header ${name} is repeated`);
		seen[field] = value;
	}
	return checkFraming(head, seen);
}

function checkFraming(head: RequestHead, seen: FramingFields): Rejection | undefined {
	if (seen.host === undefined ? head.httpVersion === '1.1' : !hostValue.test(seen.host)) {
		return malformed('The host header must name one host, with or without a port');
	}
	if (seen.contentLength !== undefined && !lengthValue.test(seen.contentLength)) {
		return malformed('The content-length header is not a decimal number');
	}
	if (seen.transferEncoding !== undefined) {
		if (seen.contentLength !== undefined) return malformed('Both content-length and transfer-encoding are given');
		if (head.httpVersion === '1.0') return malformed('HTTP/1.0 does not support transfer-encoding');
		if (seen.transferEncoding !== 'chunked') return malformed('The transfer-encoding is not `chunked`');
	}
	const hasBody = seen.transferEncoding !== undefined || (seen.contentLength !== undefined && seen.contentLength !== '0');
	if (hasBody && bodilessMethods.has(head.method)) return malformed(`A ${head.method} request must not have a body`);
	return undefined;
}

/** Compares lengths first: most names are none of these, and this runs for every field of every request. */
function framingField(name: string): keyof FramingFields | 'upgrade' | undefined {
	switch (name.length) {
		case 4:
			return name.toLowerCase() === 'host' ? 'host' : undefined;
		case 7:
			return name.toLowerCase() === 'upgrade' ? 'upgrade' : undefined;
		case 13:
			return name.toLowerCase() === 'authorization' ? 'authorization' : undefined;
		case 14:
			return name.toLowerCase() === 'content-length' ? 'contentLength' : undefined;
		case 17:
			return name.toLowerCase() === 'transfer-encoding' ? 'transferEncoding' : undefined;
		default:
			return undefined;
	}
}

function isGuarded(name: string): boolean {
	const dashed = name.toLowerCase().replaceAll('_', '-');
	return guardedNames.has(dashed) || guardedPrefixes.some((prefix) => dashed.startsWith(prefix));
}

function malformed(message: string): Rejection {
	return new Rejection('http_malformed', { message });
}
