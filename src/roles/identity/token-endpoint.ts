import { Rejection } from '../../core/rejection.ts';
import type { AccessTokenSigner, IssuedToken } from './access-token-signer.ts';
import { readClientCredentials } from './client-credentials.ts';
import type { ClientVerification } from './client-verification.ts';
import { grantScopes } from './granted-scopes.ts';
import { parseTokenForm } from './token-form.ts';

export interface TokenRequest {
	/** Text after `?`; undefined without a `?`. */
	readonly query: string | undefined;
	/** All `authorization` header fields. */
	readonly authorization: readonly string[];
	/** Undefined if the request had none. */
	readonly body: Buffer | undefined;
	readonly sourceAddress: string;
}

export interface Grant extends IssuedToken {
	readonly clientId: string;
	readonly scopes: readonly string[];
}

export interface TokenEndpointDeps {
	readonly scopeBase: string;
	readonly verification: ClientVerification;
	readonly signer: AccessTokenSigner;
}

/**
 * Handles the `client_credentials` grant, RFC 6749 section 4.4.
 * @throws `Rejection` with the codes of RFC 6749 section 5.2, and `too_many_attempts`, `overloaded`.
 */
export async function grantAccessToken(request: TokenRequest, { scopeBase, verification, signer }: TokenEndpointDeps): Promise<Grant> {
	if (request.query !== undefined) throw invalidRequest('The token endpoint does not accept query parameters: send them in the form body');
	if (request.authorization.length > 1) throw invalidRequest('The authorization header is repeated');
	const form = parseTokenForm(request.body ?? Buffer.alloc(0));
	const grantType = form.get('grant_type');
	if (grantType === undefined) throw invalidRequest('grant_type is missing');
	if (grantType !== 'client_credentials') throw new Rejection('unsupported_grant_type');
	const credentials = readClientCredentials(request.authorization[0], form);
	const client = await verification.verify(credentials, request.sourceAddress);
	if (client.scopes.length === 0) {
		throw new Rejection('invalid_grant', { message: 'The client has no scopes and cannot use client_credentials' });
	}
	const scopes = grantScopes(form.get('scope'), client.scopes, scopeBase);
	return { ...(await signer.issue(client.id, scopes)), clientId: client.id, scopes };
}

function invalidRequest(message: string): Rejection {
	return new Rejection('invalid_request', { message });
}
