/** HTTP server of identity: paths, methods, header fields and limits. Ports supply the responses. */
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Log } from '../../core/log.ts';
import { Rejection } from '../../core/rejection.ts';
import { fixedScopeNames } from '../../core/scope-names.ts';
import { createDocumentServer } from '../document-server.ts';
import { maxBodyBytes, renderError } from './error-responses.ts';
import type { IdentitySettings } from './settings.ts';
import type { PublishedKey } from './signing-keys.ts';
import type { Grant, TokenRequest } from './token-endpoint.ts';

export interface IdentityServerDeps {
	readonly settings: Pick<IdentitySettings, 'issuer' | 'scopeBase' | 'trustedProxies' | 'keyOverlapSeconds' | 'maxConnections'>;
	readonly log: Log;
	readonly newId: () => string;
	readonly grant: (request: TokenRequest) => Promise<Grant>;
	readonly publishedKeys: () => PublishedKey[];
	/** Rejects if a token request could not be served now. */
	readonly checkReady: () => Promise<void>;
}

const maxKeySetAgeSeconds = 300;
const maxConnections = 1000;

export function createIdentityServer(deps: IdentityServerDeps): FastifyInstance {
	const { settings, newId, log } = deps;
	const app: FastifyInstance = createDocumentServer({
		bodyType: 'application/x-www-form-urlencoded',
		maxBodyBytes,
		maxConnections: Math.min(maxConnections, settings.maxConnections ?? maxConnections),
		trustedProxies: settings.trustedProxies,
		newId,
		headers: { pragma: 'no-cache' },
		methodsOf: (path) => (['GET', 'POST'] as const).filter((method) => app.hasRoute({ method, url: path })),
		renderError,
		noteError(cause, { id, ip }, { status, body }) {
			const fields = { requestId: id, code: body.error, address: ip };
			// Frequent requests must not fill the log with stack traces.
			if (status >= 500 && !(cause instanceof Rejection)) log.error('token request failed', { ...fields, cause });
			else log.info('token request rejected', fields);
		},
	});
	// A reverse proxy may or may not strip the issuer's path.
	const prefixes = [...new Set(['', issuerPath(settings.issuer)])];
	addTokenEndpoint(app, deps, prefixes);
	addDocuments(app, deps, prefixes);
	addHealth(app, deps);
	return app;
}

function addTokenEndpoint(app: FastifyInstance, { grant, log }: IdentityServerDeps, prefixes: readonly string[]): void {
	for (const prefix of prefixes) {
		app.post(`${prefix}/oauth2/token`, async (request) => {
			const mark = request.url.indexOf('?');
			const granted = await grant({
				query: mark === -1 ? undefined : request.url.slice(mark + 1),
				authorization: request.raw.headersDistinct['authorization'] ?? [],
				body: Buffer.isBuffer(request.body) ? request.body : undefined,
				sourceAddress: request.ip,
			});
			const scope = granted.scopes.join(' ');
			log.info('access token issued', { requestId: request.id, clientId: granted.clientId, scope, jti: granted.jti, address: request.ip });
			return { access_token: granted.accessToken, token_type: 'Bearer', expires_in: granted.expiresInSeconds, scope };
		});
	}
}

function addDocuments(app: FastifyInstance, { settings, publishedKeys }: IdentityServerDeps, prefixes: readonly string[]): void {
	// A key is published for the overlap before it signs. By then, every cached key set without it has expired.
	const maxAgeSeconds = Math.min(maxKeySetAgeSeconds, settings.keyOverlapSeconds);
	const metadata = describeIssuer(settings.issuer, settings.scopeBase);
	const send = (reply: FastifyReply, document: object): FastifyReply =>
		reply.removeHeader('pragma').header('cache-control', `public, max-age=${maxAgeSeconds}`).send(document);
	for (const prefix of prefixes) {
		app.get(`${prefix}/.well-known/jwks.json`, (_request, reply) => send(reply, { keys: publishedKeys() }));
		app.get(`${prefix}/.well-known/openid-configuration`, (_request, reply) => send(reply, metadata));
		// RFC 8414 section 3 puts an issuer's path behind the well-known part.
		app.get(`/.well-known/oauth-authorization-server${prefix}`, (_request, reply) => send(reply, metadata));
	}
}

function addHealth(app: FastifyInstance, { checkReady }: IdentityServerDeps): void {
	for (const path of ['/', '/healthz']) app.get(path, async () => ({ status: 'ok' }));
	app.get('/readyz', async (_request, reply) => {
		const isReady = await checkReady().then(
			() => true,
			() => false,
		);
		reply.status(isReady ? 200 : 503);
		return { status: isReady ? 'ready' : 'not_ready', checks: { records: { status: isReady ? 'ok' : 'failing' } } };
	});
}

interface IssuerMetadata {
	readonly issuer: string;
	readonly token_endpoint: string;
	readonly jwks_uri: string;
	readonly [member: string]: unknown;
}

/** Builds the metadata of RFC 8414 section 2 and OpenID Connect Discovery 1.0 section 3, whose required members some clients insist on. */
function describeIssuer(issuer: string, scopeBase: string): IssuerMetadata {
	const base = issuer.replace(/\/$/, '');
	return {
		issuer,
		token_endpoint: `${base}/oauth2/token`,
		jwks_uri: `${base}/.well-known/jwks.json`,
		grant_types_supported: ['client_credentials'],
		token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
		scopes_supported: fixedScopeNames.map((name) => `${scopeBase}/${name}`),
		response_types_supported: [],
		subject_types_supported: ['public'],
		id_token_signing_alg_values_supported: ['RS256'],
	};
}

/** Returns the path of an issuer's URL without a trailing slash; empty for most. */
function issuerPath(issuer: string): string {
	return new URL(issuer).pathname.replace(/\/$/, '');
}
