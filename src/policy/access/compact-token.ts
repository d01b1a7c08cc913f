/** Compact serialisation of a signed token (RFC 7515 section 7.1), parsed so that each token has one spelling. */
import { invalidToken } from './invalid-token.ts';
import { type JsonObject, readJsonObject } from './json-object.ts';

export interface CompactToken {
	readonly algorithm: string;
	readonly keyId: string;
	/** Signed text: the first two parts with the dot between them. */
	readonly signedText: string;
	readonly payload: Buffer;
	readonly signature: Buffer;
}

export const maxAccessTokenLength = 8192;

/** Base64url without padding, with all unused bits of the last character zero. */
const part = '((?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-][AQgw]|[A-Za-z0-9_-]{2}[AEIMQUYcgkosw048])?)';
const compact = new RegExp(`^${part}\\.${part}\\.${part}$`);

/** Types of access tokens: RFC 7519 section 5.1, RFC 9068 section 2.1. Others, such as `id+jwt`, have another meaning. */
const accessTokenTypes: ReadonlySet<string> = new Set(['jwt', 'at+jwt', 'application/at+jwt']);

const maxKeyIdLength = 256;

/**
 * Checks the syntax only, neither signature nor claims.
 * @throws {Rejection} `token_invalid`.
 */
export function readCompactToken(accessToken: string): CompactToken {
	const [head, payload, signature] = splitToken(accessToken);
	return {
		...readHead(head),
		signedText: accessToken.slice(0, head.length + 1 + payload.length),
		payload: Buffer.from(payload, 'base64url'),
		signature: Buffer.from(signature, 'base64url'),
	};
}

/**
 * Returns the claims of a token that another component verified by its own rules for the header; only the type is checked.
 * @throws {Rejection} `token_invalid`.
 */
export function readTrustedPayload(accessToken: string): Buffer {
	const [head, payload] = splitToken(accessToken);
	requireAccessTokenType(readHeadObject(head)['typ']);
	return Buffer.from(payload, 'base64url');
}

/** @returns head, payload and signature; the payload may be empty. */
function splitToken(accessToken: string): readonly [string, string, string] {
	if (accessToken.length > maxAccessTokenLength) throw invalidToken(`longer than ${maxAccessTokenLength} characters`);
	const [, head = '', payload = '', signature = ''] = compact.exec(accessToken) ?? [];
	if (head === '' || signature === '') throw invalidToken('not three parts of canonical base64url');
	return [head, payload, signature];
}

function readHeadObject(text: string): JsonObject {
	const head = readJsonObject(Buffer.from(text, 'base64url'));
	if (head === undefined) throw invalidToken('header is not one plain JSON object');
	return head;
}

/** Allows only `alg`, `typ` and `kid`. Other members would select a key, or change the meaning of the signature. */
function readHead(text: string): { algorithm: string; keyId: string } {
	const { alg, typ, kid, ...others } = readHeadObject(text);
	const other = Object.keys(others)[0];
	if (other !== undefined) throw invalidToken(`header member ${JSON.stringify(other.slice(0, 32))} is not accepted`);
	if (typeof alg !== 'string') throw invalidToken('header has no alg');
	if (typeof kid !== 'string' || kid === '' || kid.length > maxKeyIdLength) throw invalidToken('header has no usable kid');
	requireAccessTokenType(typ);
	return { algorithm: alg, keyId: kid };
}

function requireAccessTokenType(typ: unknown): void {
	if (typ === undefined || (typeof typ === 'string' && accessTokenTypes.has(typ.toLowerCase()))) return;
	throw invalidToken('header typ is not that of an access token');
}
