import { scopeNames } from './granted-scopes.ts';

export interface IssuerMetadata {
	readonly issuer: string;
	readonly token_endpoint: string;
	readonly jwks_uri: string;
	readonly [member: string]: unknown;
}

/** RFC 8414 section 2 and OpenID Connect Discovery 1.0 section 3, whose required members some clients insist on. */
export function describeIssuer(issuer: string, scopeBase: string): IssuerMetadata {
	const base = issuer.replace(/\/$/, '');
	return {
		issuer,
		token_endpoint: `${base}/oauth2/token`,
		jwks_uri: `${base}/.well-known/jwks.json`,
		grant_types_supported: ['client_credentials'],
		token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
		scopes_supported: scopeNames.map((name) => `${scopeBase}/${name}`),
		response_types_supported: [],
		subject_types_supported: ['public'],
		id_token_signing_alg_values_supported: ['RS256'],
	};
}

/** The path of an issuer's URL, without a closing slash; empty for most. */
export function issuerPath(issuer: string): string {
	return new URL(issuer).pathname.replace(/\/$/, '');
}
