/** The HTTP side of identity: addresses, methods, header fields, bounds. What is answered is decided by those it is given. */

import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { fastify } from 'fastify';
import type { Log } from '../../core/log.ts';
import type { RefusalCode } from '../../core/refusal.ts';
import { Refusal } from '../../core/refusal.ts';
import { describeIssuer, issuerPath } from './discovery.ts';
import { answerError, maxBodyBytes } from './error-answers.ts';
import type { IdentitySettings } from './settings.ts';
import type { PublishedKey } from './signing-keys.ts';
import type { Grant, TokenRequest } from './token-endpoint.ts';

export interface IdentityServerParts {
	readonly settings: Pick<IdentitySettings, 'issuer' | 'scopeBase' | 'trustedProxies' | 'keyOverlapSeconds'>;
	readonly log: Log;
	readonly newId: () => string;
	readonly grant: (request: TokenRequest) => Promise<Grant>;
	readonly publishedKeys: () => PublishedKey[];
	/** Rejects when a request for a token could not be answered now. */
	readonly checkReady: () => Promise<void>;
}

const maxConnections = 1000;
const headersTimeoutMs = 10_000;
const requestTimeoutMs = 15_000;
const keepAliveMs = 75_000;
const mostKeySetAgeSeconds = 300;

const securityHeaders = {
	'x-content-type-options': 'nosniff',
	'referrer-policy': 'no-referrer',
	'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
	'cache-control': 'no-store',
	pragma: 'no-cache',
};

export function createIdentityServer(parts: IdentityServerParts): FastifyInstance {
	const { settings, newId } = parts;
	const app = fastify({
		logger: false,
		bodyLimit: maxBodyBytes,
		requestTimeout: requestTimeoutMs,
		keepAliveTimeout: keepAliveMs,
		maxRequestsPerSocket: 10_000,
		trustProxy: settings.trustedProxies.length === 0 ? false : [...settings.trustedProxies],
		return503OnClosing: false,
		forceCloseConnections: 'idle',
		exposeHeadRoutes: true,
		genReqId: newId,
		http: { headersTimeout: headersTimeoutMs, maxHeaderSize: 16_384, connectionsCheckingInterval: 1000 },
		frameworkErrors: (cause, request, reply) => sendError(parts, cause, request, reply),
		clientErrorHandler: answerUnreadable,
	});
	app.server.maxConnections = maxConnections;
	app.removeAllContentTypeParsers();
	app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
	app.addHook('onRequest', async (request, reply) => {
		reply.headers({ ...securityHeaders, 'x-request-id': request.id });
	});
	app.setErrorHandler((cause, request, reply) => sendError(parts, cause, request, reply));

	// A proxy in front may or may not take the issuer's path off.
	const prefixes = [...new Set(['', issuerPath(settings.issuer)])];
	addTokenEndpoint(app, parts, prefixes);
	addDocuments(app, parts, prefixes);
	addHealth(app, parts);
	app.setNotFoundHandler((request) => {
		const path = request.url.split('?', 1)[0] ?? '';
		const allow = (['GET', 'POST'] as const).filter((method) => app.hasRoute({ method, url: path }));
		if (allow.length === 0) throw new Refusal('path_unknown');
		const headers = { allow: allow.includes('GET') ? 'GET, HEAD' : 'POST' };
		throw new Refusal('method_not_allowed', { message: `Use ${headers.allow}`, headers });
	});
	return app;
}

function addTokenEndpoint(app: FastifyInstance, { grant, log }: IdentityServerParts, prefixes: readonly string[]): void {
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

function addDocuments(app: FastifyInstance, { settings, publishedKeys }: IdentityServerParts, prefixes: readonly string[]): void {
	// A key is published for the overlap before it signs: by then every copy that was fetched without it has run out.
	const maxAgeSeconds = Math.min(mostKeySetAgeSeconds, settings.keyOverlapSeconds);
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

function addHealth(app: FastifyInstance, { checkReady }: IdentityServerParts): void {
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

function sendError({ log }: IdentityServerParts, cause: unknown, request: FastifyRequest, reply: FastifyReply): void {
	const { status, headers, body } = answerError(cause, request.id);
	const fields = { requestId: request.id, code: body.error, address: request.ip };
	// Whoever asks too often must not fill the log with stacks.
	if (status >= 500 && !(cause instanceof Refusal)) log.error('identity could not answer', { ...fields, cause });
	else log.info('identity refused', fields);
	reply
		.status(status)
		.headers({ ...securityHeaders, 'x-request-id': request.id, ...headers })
		.send(body);
}

/** Bytes that are no HTTP request: there is no request to reply to, only the socket. */
function answerUnreadable(cause: Error & { code?: string }, socket: Socket): void {
	if (cause.code === 'ECONNRESET' || !socket.writable) {
		socket.destroy();
		return;
	}
	const code = unreadable[cause.code ?? ''] ?? 'http_malformed';
	const { status, body } = answerError(new Refusal(code), '');
	const text = JSON.stringify(body);
	socket.end(
		`HTTP/1.1 ${status} Refused\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(text)}\r\n` +
			`cache-control: no-store\r\nconnection: close\r\n\r\n${text}`,
	);
}

const unreadable: Readonly<Record<string, RefusalCode>> = {
	HPE_HEADER_OVERFLOW: 'headers_too_large',
	ERR_HTTP_REQUEST_TIMEOUT: 'body_timeout',
};
