import { Rejection } from '../../core/rejection.ts';
import { decodeFormText, decodeUtf8 } from './token-form.ts';

export interface ClientCredentials {
	readonly id: string;
	readonly secret: string;
}

/**
 * Reads the client's id and secret from the `authorization` header or from the form (RFC 6749 section 2.3.1), never from both. With the
 * header, the form may repeat the same `client_id`, as some libraries do.
 * @throws `Rejection` `invalid_request`; `invalid_client` if there are none.
 */
export function readClientCredentials(authorization: string | undefined, form: ReadonlyMap<string, string>): ClientCredentials {
	const id = form.get('client_id');
	const secret = form.get('client_secret');
	if (authorization === undefined) {
		if (id === undefined || secret === undefined) {
			throw new Rejection('invalid_client', { message: 'Send client_id and client_secret in the form, or HTTP Basic authentication' });
		}
		return { id, secret };
	}
	if (secret !== undefined) {
		throw new Rejection('invalid_request', { message: 'Send the client secret in the authorization header or in the form, not in both' });
	}
	const credentials = parseBasic(authorization);
	if (id !== undefined && id !== credentials.id) {
		throw new Rejection('invalid_request', { message: 'client_id differs from the one in the authorization header' });
	}
	return credentials;
}

function parseBasic(authorization: string): ClientCredentials {
	const [, encoded] = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(authorization) ?? [];
	if (encoded === undefined) {
		throw new Rejection('invalid_client', { message: 'The authorization header is not HTTP Basic authentication' });
	}
	const text = decodeUtf8(Buffer.from(encoded, 'base64'));
	const colon = text.indexOf(':');
	if (colon === -1) throw new Rejection('invalid_request', { message: 'The authorization header has no colon between id and secret' });
	return { id: decodeFormText(text.slice(0, colon)), secret: decodeFormText(text.slice(colon + 1)) };
}
