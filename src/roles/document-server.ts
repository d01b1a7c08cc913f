/** HTTP server of roles that return documents, such as identity and admin: limits, common headers and error responses. */
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { fastify } from 'fastify';
import { Rejection, type RejectionCode } from '../core/rejection.ts';

export interface ErrorResponse<Body = object> {
	readonly status: number;
	/** Header fields; JSON unless they set another `content-type`. */
	readonly headers: Readonly<Record<string, string>>;
	readonly body: Body;
}

export interface DocumentServerOptions<Body extends object> {
	/** The only media type whose bodies are read. Handlers get the bytes. */
	readonly bodyType: string;
	readonly maxBodyBytes: number;
	readonly maxConnections: number;
	/** Maximum time for a whole request to arrive; 15 s by default. */
	readonly requestTimeoutMs?: number;
	/** Proxies whose `x-forwarded-for` is trusted; none by default. */
	readonly trustedProxies?: readonly string[];
	/** Generates request ids. */
	readonly newId: () => string;
	/** Header fields of every response, in addition to those of all such servers. */
	readonly headers: Readonly<Record<string, string>>;
	/** Returns the methods that are served at a path; none if it is unknown. */
	readonly methodsOf: (path: string) => readonly string[];
	readonly renderError: (cause: unknown, requestId: string) => ErrorResponse<Body>;
	/** Called for each error response. */
	readonly noteError: (cause: unknown, request: FastifyRequest, response: ErrorResponse<Body>) => void;
}

const headersTimeoutMs = 10_000;
const defaultRequestTimeoutMs = 15_000;
const keepAliveMs = 75_000;

const securityHeaders = {
	'x-content-type-options': 'nosniff',
	'referrer-policy': 'no-referrer',
	'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
	'cache-control': 'no-store',
};

export function createDocumentServer<Body extends object>(terms: DocumentServerOptions<Body>): FastifyInstance {
	const { requestTimeoutMs = defaultRequestTimeoutMs, trustedProxies = [], methodsOf, renderError } = terms;
	const always = { ...securityHeaders, ...terms.headers };
	const sendError = (cause: unknown, request: FastifyRequest, reply: FastifyReply): void => {
		const response = renderError(cause, request.id);
		terms.noteError(cause, request, response);
		reply
			.status(response.status)
			.headers({ ...always, 'x-request-id': request.id, 'content-type': jsonType, ...response.headers })
			.send(JSON.stringify(response.body));
	};
	const app = fastify({
		logger: false,
		bodyLimit: terms.maxBodyBytes,
		requestTimeout: requestTimeoutMs,
		keepAliveTimeout: keepAliveMs,
		maxRequestsPerSocket: 10_000,
		trustProxy: trustedProxies.length === 0 ? false : [...trustedProxies],
		return503OnClosing: false,
		forceCloseConnections: 'idle',
		exposeHeadRoutes: true,
		routerOptions: { maxParamLength: 4096 },
		schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
		genReqId: terms.newId,
		http: {
			headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
			maxHeaderSize: 16_384,
			connectionsCheckingInterval: Math.min(1000, requestTimeoutMs),
		},
		frameworkErrors: sendError,
		clientErrorHandler: (cause: Error & { code?: string }, socket: Socket) => renderUnreadable(cause, socket, renderError),
	});
	app.server.maxConnections = terms.maxConnections;
	app.removeAllContentTypeParsers();
	app.addContentTypeParser(terms.bodyType, { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
	app.addHook('onRequest', async (request, reply) => {
		reply.headers({ ...always, 'x-request-id': request.id });
	});
	app.setErrorHandler(sendError);
	app.setNotFoundHandler((request) => {
		const methods = methodsOf(request.url.split('?', 1)[0] ?? '').flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
		if (methods.length === 0) throw new Rejection('path_unknown');
		const allow = methods.join(', ');
		throw new Rejection('method_not_allowed', { message: `Use ${allow}`, headers: { allow } });
	});
	return app;
}

/** Disables schema validation: handlers validate bytes, and schema compilers would be a tenth of the modules loaded at start. */
function noSchemas(): never {
	throw new Error('Routes of document servers have no schemas');
}

const jsonType = 'application/json; charset=utf-8';

/** Responds to bytes that are no HTTP request. There is no request object, only the socket. */
function renderUnreadable(
	cause: Error & { code?: string },
	socket: Socket,
	renderError: (cause: unknown, requestId: string) => ErrorResponse,
): void {
	// Each further piece of an unreadable request is reported again.
	if (socket.writableEnded && cause.code !== 'ECONNRESET') return;
	if (cause.code === 'ECONNRESET' || !socket.writable) {
		socket.destroy();
		return;
	}
	const { status, headers, body } = renderError(new Rejection(unreadable[cause.code ?? ''] ?? 'http_malformed'), '');
	const text = JSON.stringify(body);
	socket.end(
		`HTTP/1.1 ${status} Refused\r\ncontent-type: ${headers['content-type'] ?? jsonType}\r\ncontent-length: ${Buffer.byteLength(text)}\r\n` +
			`cache-control: no-store\r\nconnection: close\r\n\r\n${text}`,
	);
	// Closing while the client still sends would reset the connection and lose the response.
	socket.resume();
	const timer = setTimeout(() => socket.destroy(), lingerMs);
	timer.unref();
	socket.once('close', () => clearTimeout(timer));
}

/** Maximum time for which the rest of an unreadable request is discarded. */
const lingerMs = 2000;

const unreadable: Readonly<Record<string, RejectionCode>> = {
	HPE_HEADER_OVERFLOW: 'headers_too_large',
	ERR_HTTP_REQUEST_TIMEOUT: 'body_timeout',
};
