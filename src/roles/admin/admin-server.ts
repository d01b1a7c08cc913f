/** HTTP server of the admin API: access, limits, parsing and responses. The operations themselves are defined elsewhere. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { yieldToEventLoop } from '../../core/cooperative-task.ts';
import { Rejection } from '../../core/rejection.ts';
import { readAdminRights } from '../../policy/access/admin-rights.ts';
import { scopeMissing } from '../../policy/access/require-scope.ts';
import { createDocumentServer } from '../document-server.ts';
import type { Access, AccessRequest, Requester } from './access.ts';
import type { AdminPorts } from './admin-settings.ts';
import { checkFields } from './check-fields.ts';
import { createIdempotency } from './idempotency.ts';
import type { CsvResponse, Operation } from './operation.ts';
import { maxBodyBytes, renderProblem } from './problem-responses.ts';
import { readBody, readQuery, wantsCsv } from './read-request.ts';
import { type Authority, type FindTeamOf, limitToTeams } from './team-access.ts';

export interface AdminServerDeps extends Pick<AdminPorts, 'nearestName' | 'clock' | 'log' | 'newId' | 'changesApplied'> {
	readonly access: Access;
	/** 500 by default, which is also the maximum. */
	readonly maxConnections?: number | undefined;
	/** Maximum time for a whole request to arrive. */
	readonly requestTimeoutMs?: number;
	readonly operations: readonly Operation[];
	readonly findTeamOf: FindTeamOf;
}

const connectionLimit = 500;

export function createAdminServer(deps: AdminServerDeps): FastifyInstance {
	const { operations, newId, requestTimeoutMs, maxConnections = connectionLimit, log } = deps;
	const matchers = operations.map(({ method, path }) => ({ method, pattern: patternOf(path) }));
	const app = createDocumentServer({
		bodyType: 'application/json',
		maxBodyBytes,
		maxConnections: Math.min(connectionLimit, maxConnections),
		...(requestTimeoutMs !== undefined && { requestTimeoutMs }),
		newId,
		headers: { 'x-frame-options': 'DENY', 'cross-origin-resource-policy': 'same-origin' },
		methodsOf: (path) => matchers.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method),
		renderError: renderProblem,
		noteError(cause, { id }, { status, body }) {
			if (status >= 500) log.error('admin API request failed', { requestId: id, code: body.code, cause });
		},
	});
	const requesters = addAccess(app, deps);
	addOperations(app, deps, requesters);
	return app;
}

const emptyObject = Buffer.from('{}');

type Requesters = WeakMap<FastifyRequest, Requester>;

/** Requires an access token for unknown paths too, so that unauthenticated clients cannot find out which paths exist. */
function addAccess(app: FastifyInstance, { access, operations, log }: AdminServerDeps): Requesters {
	const requesters: Requesters = new WeakMap();
	const accessByRoute = new Map(operations.map((operation) => [`${operation.method} ${urlOf(operation.path)}`, operation.access]));
	app.addHook('onRequest', async (request) => {
		const method = request.method === 'HEAD' ? 'GET' : request.method;
		const needed = request.is404 ? undefined : accessByRoute.get(`${method} ${request.routeOptions.url}`);
		if (needed === 'public') access.countUnauthenticated(accessRequestOf(request));
		else if (needed !== 'health') requesters.set(request, await access.identify(accessRequestOf(request), needed));
		if (request.headers['content-encoding'] !== undefined) throw new Rejection('content_encoding_unsupported');
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
		// Requests without a connection have none.
		get authorizations() {
			return raw.headersDistinct['authorization'] ?? [];
		},
	};
}

function addOperations(app: FastifyInstance, deps: AdminServerDeps, requesters: Requesters): void {
	const { operations, nearestName, clock, changesApplied, findTeamOf } = deps;
	const repeatable = createIdempotency(clock);
	for (const operation of operations) {
		const { method, path, success, isBodyOptional = false } = operation;
		app.route({
			method,
			url: urlOf(path),
			async handler(request, reply) {
				if (method === 'GET') await yieldToEventLoop();
				const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
				const { actor, owner, authority = noAuthority } = requesters.get(request) ?? unauthenticated;
				const { access } = operation;
				const ifMatch = request.headers['if-match'];
				const input = () => ({
					params: checkFields(operation.params, paramsOf(operation, request.params), nearestName),
					query: readQuery(operation.query, request.query as Record<string, unknown>, nearestName),
					body:
						operation.body === undefined
							? undefined
							: readBody(operation.body, body.length === 0 && isBodyOptional ? emptyObject : body, nearestName),
				});
				// Also before a stored response is returned again.
				const limited =
					typeof access === 'string' || authority.teams === 'all'
						? undefined
						: await limitToTeams(access.team, { authority, ...input() }, findTeamOf);
				const runOnce = () =>
					operation.run({
						...input(),
						...(limited !== undefined && { query: limited }),
						ifMatch,
						wantsCsv: wantsCsv(request.headers.accept),
						author: { actor, atMs: clock.nowMs(), requestId: request.id },
						authority,
					});
				const run = () => (ifMatch === undefined ? untilNotOutrun(runOnce) : runOnce());
				const key = request.headers['idempotency-key'];
				const response =
					method === 'POST' && typeof key === 'string'
						? await repeatable({ owner: ownerOf(owner, authority), path: request.url, key, body }, run)
						: await run();
				if (method !== 'GET') await changesApplied();
				return sendResponse(reply, response, success.status);
			},
		});
	}
}

const maxAttempts = 10;

/** Retries an unconditional request after a concurrent change, on the new state, so that it does not fail with `record_stale`. */
async function untilNotOutrun(run: () => Promise<CsvResponse>): Promise<CsvResponse> {
	for (let attempt = 1; ; attempt++) {
		try {
			return await run();
		} catch (cause) {
			if (!(cause instanceof Rejection && cause.code === 'record_stale') || attempt >= maxAttempts) throw cause;
		}
	}
}

/** Authority of public operations, which read no records. */
const noAuthority: Authority = { rights: readAdminRights([]), teams: new Set(), missing: scopeMissing };

/** Requester of public operations, which change nothing. */
const unauthenticated: Requester = { actor: 'stranger', clientId: '', owner: '', authority: undefined };

/** Keeps responses to one token of a client from another token that may use other teams. */
function ownerOf(owner: string, { teams }: Authority): string {
	return teams === 'all' ? owner : JSON.stringify([owner, ...[...teams].toSorted()]);
}

function sendResponse(reply: FastifyReply, { status, headers = {}, body, text }: CsvResponse, defaultStatus: number): FastifyReply {
	reply.status(status ?? defaultStatus).headers(headers);
	if (text !== undefined) return reply.send(text);
	if (body === undefined) return reply.send();
	return reply.type('application/json; charset=utf-8').send(JSON.stringify(body));
}

/** Converts the path to the router's syntax. The last parameter of a path with two includes all that follows, slashes too. */
function urlOf(path: string): string {
	return hasOpenEnd(path) ? path.replace('{provider}', ':provider').replace('{model}', '*') : path.replace(/\{(\w+)\}/g, ':$1');
}

/** @throws `Rejection` `path_unknown` for an empty parameter, which the router accepts. */
function paramsOf({ path }: Operation, given: unknown): Readonly<Record<string, string>> {
	const { '*': rest, ...others } = given as Record<string, string>;
	const params = hasOpenEnd(path) ? { ...others, model: rest ?? '' } : others;
	if (Object.values(params).includes('')) throw new Rejection('path_unknown');
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
