import type { HeaderFields } from '../../core/handler.ts';
import { Rejection } from '../../core/rejection.ts';
import { invalidToken } from './invalid-token.ts';

/**
 * Returns the access token of an `authorization` header (RFC 6750 section 2.1): the scheme in any case, one space, the rest as received.
 * Query parameters and form fields are ignored.
 * @throws {Rejection} `token_missing`, also for another scheme or an empty token; `token_invalid` for repeated headers.
 */
export function readBearer(authorization: string | readonly string[] | undefined): string {
	if (authorization === undefined) throw new Rejection('token_missing');
	if (typeof authorization !== 'string') throw invalidToken('more than one authorization header');
	if (authorization.length < 8 || authorization.slice(0, 7).toLowerCase() !== 'bearer ') throw new Rejection('token_missing');
	return authorization.slice(7);
}

/** Header fields that can carry the access token: the HTTP standard's, then those in which vendors' SDKs send an API key. */
export const tokenHeaders = ['authorization', 'x-api-key', 'api-key', 'x-goog-api-key'] as const;

export type TokenHeader = (typeof tokenHeaders)[number];

/**
 * Returns the access token of a request. If `authorization` is present it decides, and the others are not read.
 * @param listed header fields to read, `authorization` among them.
 * @throws {Rejection} `token_missing`; `token_invalid` for repeated or contradicting header fields.
 */
export function readAccessToken(headers: HeaderFields, listed: readonly TokenHeader[]): string {
	const { authorization } = headers;
	return authorization === undefined ? readApiKey(headers, listed) : readBearer(authorization);
}

/**
 * Returns the token from API key headers, without a scheme. Several header fields must agree, because hops could otherwise derive different
 * callers.
 */
function readApiKey(headers: HeaderFields, listed: readonly TokenHeader[]): string {
	let accessToken = '';
	for (const name of listed) {
		const value = headers[name] ?? '';
		if (typeof value !== 'string') throw invalidToken(`more than one ${name} header`);
		if (value === '') continue;
		if (accessToken !== '' && accessToken !== value) throw invalidToken('header fields carry different tokens');
		accessToken = value;
	}
	if (accessToken === '') throw new Rejection('token_missing');
	return accessToken;
}
