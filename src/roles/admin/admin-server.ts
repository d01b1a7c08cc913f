/** The HTTP side of the admin API: access, bounds, reading and answering. What is done is the operations' business. */

import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { fastify } from 'fastify';
import { ownTurn } from '../../core/own-turn.ts';
import { Refusal, type RefusalCode } from '../../core/refusal.ts';
import type { Access, AccessRequest, Requester } from './access.ts';
import type { AdminPorts } from './admin-settings.ts';
import { checkFields } from './check-fields.ts';
import { createIdempotency } from './idempotency.ts';
import type { Answer, Operation } from './operation.ts';
import { answerProblem, maxBodyBytes } from './problem-answers.ts';
import { readBody, readQuery, wantsCsv } from './read-request.ts';

export interface AdminServerParts extends Pick<AdminPorts, 'nearestName' | 'clock' | 'log' | 'newId' | 'changesApplied'> {
	readonly access: Access;
	/** How long a whole request may take to arrive. */
	readonly requestTimeoutMs?: number;
	readonly operations: readonly Operation[];
}

const maxConnections = 500;
const headersTimeoutMs = 10_000;
const defaultRequestTimeoutMs = 15_000;
const keepAliveMs = 75_000;

const securityHeaders = {
	'x-content-type-options': 'nosniff',
	'x-frame-options': 'DENY',
	'referrer-policy': 'no-referrer',
	'cross-origin-resource-policy': 'same-origin',
	'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
	'cache-control': 'no-store',
};

export function createAdminServer(parts: AdminServerParts): FastifyInstance {
	const { operations, newId, requestTimeoutMs = defaultRequestTimeoutMs } = parts;
	const app = fastify({
		logger: false,
		bodyLimit: maxBodyBytes,
		requestTimeout: requestTimeoutMs,
		keepAliveTimeout: keepAliveMs,
		maxRequestsPerSocket: 10_000,
		return503OnClosing: false,
		forceCloseConnections: 'idle',
		exposeHeadRoutes: true,
		routerOptions: { maxParamLength: 4096 },
		genReqId: newId,
		http: {
			headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
			maxHeaderSize: 16_384,
			connectionsCheckingInterval: Math.min(1000, requestTimeoutMs),
		},
		frameworkErrors: (cause, request, reply) => sendProblem(parts, cause, request, reply),
		clientErrorHandler: answerUnreadable,
	});
	app.server.maxConnections = maxConnections;
	app.removeAllContentTypeParsers();
	app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
	const requesters = addAccess(app, parts);
	addOperations(app, parts, requesters);
	app.setErrorHandler((cause, request, reply) => sendProblem(parts, cause, request, reply));
	const matchers = operations.map(({ method, path }) => ({ method, pattern: patternOf(path) }));
	app.setNotFoundHandler((request) => {
		const path = request.url.split('?', 1)[0] ?? '';
		const methods = matchers
			.filter(({ pattern }) => pattern.test(path))
			.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
		if (methods.length === 0) throw new Refusal('path_unknown');
		const allow = methods.join(', ');
		throw new Refusal('method_not_allowed', { message: `Use ${allow}`, headers: { allow } });
	});
	return app;
}

const emptyObject = Buffer.from('{}');

type Requesters = WeakMap<FastifyRequest, Requester>;

/** What no operation serves needs an access token too: strangers learn nothing of the addresses. */
function addAccess(app: FastifyInstance, { access, operations, log }: AdminServerParts): Requesters {
	const requesters: Requesters = new WeakMap();
	const accessByUrl = new Map(operations.map((operation) => [urlOf(operation.path), operation.access]));
	app.addHook('onRequest', async (request, reply) => {
		reply.headers({ ...securityHeaders, 'x-request-id': request.id });
		const needed = request.is404 ? 'admin' : (accessByUrl.get(request.routeOptions.url ?? '') ?? 'admin');
		if (needed === 'admin') requesters.set(request, await access.identify(accessRequestOf(request)));
		if (needed === 'public') access.countStranger(accessRequestOf(request));
		if (request.headers['content-encoding'] !== undefined) throw new Refusal('content_encoding_unsupported');
	});
	app.addHook('onResponse', async (request, reply) => {
		log.info('admin request', {
			requestId: request.id,
			method: request.method,
			path: request.is404 ? undefined : request.routeOptions.url,
			status: reply.statusCode,
			clientId: requesters.get(request)?.clientId,
			durationMs: Math.round(reply.elapsedTime),
		});
	});
	return requesters;
}

function accessRequestOf({ raw }: FastifyRequest): AccessRequest {
	return {
		peerAddress: raw.socket.remoteAddress ?? '',
		headers: raw.headers,
		// Requests that came over no connection have none.
		get authorizations() {
			return raw.headersDistinct['authorization'] ?? [];
		},
	};
}

function addOperations(app: FastifyInstance, parts: AdminServerParts, requesters: Requesters): void {
	const { operations, nearestName, clock, changesApplied } = parts;
	const repeatable = createIdempotency(clock);
	for (const operation of operations) {
		const { method, path, success, isBodyOptional = false } = operation;
		app.route({
			method,
			url: urlOf(path),
			async handler(request, reply) {
				if (method === 'GET') await ownTurn();
				const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
				const { actor, clientId } = requesters.get(request) ?? stranger;
				const ifMatch = request.headers['if-match'];
				const runOnce = () =>
					operation.run({
						params: checkFields(operation.params, paramsOf(operation, request.params), nearestName),
						query: readQuery(operation.query, request.query as Record<string, unknown>, nearestName),
						body:
							operation.body === undefined
								? undefined
								: readBody(operation.body, body.length === 0 && isBodyOptional ? emptyObject : body, nearestName),
						ifMatch,
						wantsCsv: wantsCsv(request.headers.accept),
						author: { actor, atMs: clock.nowMs(), requestId: request.id },
					});
				const run = () => (ifMatch === undefined ? untilNotOutrun(runOnce) : runOnce());
				const key = request.headers['idempotency-key'];
				const answer =
					method === 'POST' && typeof key === 'string' ? await repeatable({ clientId, path: request.url, key, body }, run) : await run();
				if (method !== 'GET') await changesApplied();
				return sendAnswer(reply, answer, success.status);
			},
		});
	}
}

const mostAttempts = 10;

/** Who set no condition is not told that another process was faster: it is tried again on what that one left. */
async function untilNotOutrun(run: () => Promise<Answer>): Promise<Answer> {
	for (let attempt = 1; ; attempt++) {
		try {
			return await run();
		} catch (cause) {
			if (!(cause instanceof Refusal && cause.code === 'record_stale') || attempt >= mostAttempts) throw cause;
		}
	}
}

/** What is public changes nothing. */
const stranger: Requester = { actor: 'stranger', clientId: '' };

function sendAnswer(reply: FastifyReply, { status, headers = {}, body, text }: Answer, usualStatus: number): FastifyReply {
	reply.status(status ?? usualStatus).headers(headers);
	if (text !== undefined) return reply.send(text);
	if (body === undefined) return reply.send();
	return reply.type('application/json; charset=utf-8').send(JSON.stringify(body));
}

/** The last parameter of a path with two takes all that follows, slashes included. */
function urlOf(path: string): string {
	return hasOpenEnd(path) ? path.replace('{provider}', ':provider').replace('{model}', '*') : path.replace(/\{(\w+)\}/g, ':$1');
}

/** @throws Refusal `path_unknown` for an empty one, which the router lets through. */
function paramsOf({ path }: Operation, given: unknown): Readonly<Record<string, string>> {
	const { '*': rest, ...others } = given as Record<string, string>;
	const params = hasOpenEnd(path) ? { ...others, model: rest ?? '' } : others;
	if (Object.values(params).includes('')) throw new Refusal('path_unknown');
	return params;
}

function patternOf(path: string): RegExp {
	const pattern = path
		.replaceAll('.', '\\.')
		.replace('{model}', '.+')
		.replace(/\{\w+\}/g, '[^/]+');
	return new RegExp(`^${pattern}$`);
}

function hasOpenEnd(path: string): boolean {
	return path.endsWith('/{provider}/{model}');
}

function sendProblem({ log }: AdminServerParts, cause: unknown, request: FastifyRequest, reply: FastifyReply): void {
	const { status, headers, body } = answerProblem(cause, request.id);
	if (status >= 500) log.error('the admin API could not answer', { requestId: request.id, code: body.code, cause });
	reply
		.status(status)
		.headers({ ...securityHeaders, 'x-request-id': request.id, ...headers })
		.send(JSON.stringify(body));
}

/** Bytes that are no HTTP request: there is no request to reply to, only the socket. */
function answerUnreadable(cause: Error & { code?: string }, socket: Socket): void {
	if (cause.code === 'ECONNRESET' || !socket.writable) {
		socket.destroy();
		return;
	}
	const { status, body } = answerProblem(new Refusal(unreadable[cause.code ?? ''] ?? 'http_malformed'), '');
	const text = JSON.stringify(body);
	socket.end(
		`HTTP/1.1 ${status} Refused\r\ncontent-type: application/problem+json; charset=utf-8\r\n` +
			`content-length: ${Buffer.byteLength(text)}\r\ncache-control: no-store\r\nconnection: close\r\n\r\n${text}`,
	);
}

const unreadable: Readonly<Record<string, RefusalCode>> = {
	HPE_HEADER_OVERFLOW: 'headers_too_large',
	ERR_HTTP_REQUEST_TIMEOUT: 'body_timeout',
};
