import { Refusal } from '../../core/refusal.ts';
import { invalidToken } from './invalid-token.ts';

/**
 * The access token of an `authorization` header (RFC 6750 section 2.1): the scheme in any case, one space, the rest as
 * received. Query parameters and form fields are not looked at.
 * @throws Refusal `token_missing`, also for another scheme or nothing behind it; `token_invalid` for repeated headers.
 */
export function readBearer(authorization: string | readonly string[] | undefined): string {
	if (authorization === undefined) throw new Refusal('token_missing');
	if (typeof authorization !== 'string') throw invalidToken('more than one authorization header');
	if (authorization.length < 8 || authorization.slice(0, 7).toLowerCase() !== 'bearer ') throw new Refusal('token_missing');
	return authorization.slice(7);
}
