/** HTTP server that sends each request to the gateway with a valid access token in place of the client's credential. */

import {
	type ClientRequest,
	createServer,
	Agent as HttpAgent,
	type IncomingMessage,
	type RequestOptions,
	request as requestHttp,
	type Server,
	type ServerResponse,
} from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { pipeline } from 'node:stream/promises';
import type { AccessTokenSource } from '../../client/access-token-source.ts';
import { connectionFields } from '../../core/connection-fields.ts';
import { foreignRequestProblem, type TrustedHosts } from './foreign-request.ts';

export interface ProxyDeps {
	/** URL of the gateway, with an optional path prefix. */
	readonly gateway: URL;
	readonly tokens: Pick<AccessTokenSource, 'accessToken' | 'invalidate'>;
	readonly trustedHosts: TrustedHosts;
	/** Reports a failed request; the text has no secret and no content. */
	warn(text: string): void;
}

/** Bodies up to this size are sent again after a 401 or a lost connection. Larger ones are streamed, and sent once. */
const maxReplayableBytes = 4_194_304;

/** Fields that can carry a credential of the client, which the gateway must not receive. */
const credentialFields = ['authorization', 'x-api-key', 'api-key', 'x-goog-api-key', 'cookie'];

/** Fields that are not forwarded. The server handles `expect`. */
const ownFields: readonly string[] = [...connectionFields, 'expect', 'host', 'proxy-authenticate', 'proxy-authorization'];

interface RequestBody {
	/** The whole body, or its beginning. */
	readonly pieces: readonly Buffer[];
	readonly isWhole: boolean;
}

export function createProxyServer(deps: ProxyDeps): Server {
	// Own agents: the global ones use a proxy when the environment names one.
	const agent = deps.gateway.protocol === 'https:' ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true });
	const server = createServer((request, response) => {
		let upstream: IncomingMessage | undefined;
		let hasClientDisconnected = false;
		response.once('close', () => {
			hasClientDisconnected = !response.writableFinished && (upstream === undefined || upstream.errored === null);
		});
		const forward = async (): Promise<void> => {
			upstream = await serve(deps, agent, request, response);
			if (upstream === undefined) return;
			response.writeHead(upstream.statusCode ?? 502, upstream.statusMessage, endToEndFields(upstream.rawHeaders, []));
			response.flushHeaders();
			await pipeline(upstream, response);
		};
		forward().catch((cause: unknown) => {
			if (hasClientDisconnected) return;
			deps.warn(`${request.method} ${pathOf(request)}: ${messageOf(cause)}`);
			if (response.headersSent) response.destroy();
			else reject(response, 502, 'gateway_unreachable', `The gateway at ${deps.gateway.origin} cannot be reached: ${messageOf(cause)}`);
		});
	});
	server.on('close', () => agent.destroy());
	return server;
}

/** Returns the gateway's response, or undefined if the proxy has responded itself. */
async function serve(
	deps: ProxyDeps,
	agent: HttpAgent,
	request: IncomingMessage,
	response: ServerResponse,
): Promise<IncomingMessage | undefined> {
	// Such a request has the host name of its destination.
	if (request.url?.startsWith('/') !== true) {
		reject(response, 400, 'not_a_forward_proxy', 'Use the address of tollgate proxy as base URL, not as HTTP proxy.');
		return undefined;
	}
	const problem = foreignRequestProblem(request.headers, deps.trustedHosts);
	if (problem !== undefined) {
		reject(response, 403, 'foreign_request', `Rejected by tollgate proxy: ${problem}.`);
		return undefined;
	}
	const body = await readBody(request);
	let accessToken: string;
	try {
		accessToken = await deps.tokens.accessToken();
	} catch (cause) {
		deps.warn(messageOf(cause));
		reject(response, 502, 'access_token_unavailable', `tollgate proxy has no access token. ${messageOf(cause)}.`);
		return undefined;
	}
	const send = (usedToken: string): Promise<IncomingMessage> => sendToGateway(deps.gateway, agent, request, response, body, usedToken);
	const upstream = await send(accessToken);
	if (upstream.statusCode !== 401 || !body.isWhole) return upstream;
	const renewed = await renewedToken(deps, accessToken);
	if (renewed === undefined) return upstream;
	upstream.destroy();
	return send(renewed);
}

/** Returns a token other than the one that the gateway rejected, or undefined. */
async function renewedToken({ tokens }: ProxyDeps, rejected: string): Promise<string | undefined> {
	try {
		// Another request may have renewed it already.
		if ((await tokens.accessToken()) === rejected) tokens.invalidate();
		const renewed = await tokens.accessToken();
		return renewed === rejected ? undefined : renewed;
	} catch {
		return undefined;
	}
}

async function sendToGateway(
	gateway: URL,
	agent: HttpAgent,
	request: IncomingMessage,
	response: ServerResponse,
	body: RequestBody,
	accessToken: string,
): Promise<IncomingMessage> {
	const hasLength = request.headers['content-length'] !== undefined;
	const options: RequestOptions = {
		agent,
		method: request.method,
		path: gateway.pathname.replace(/\/+$/, '') + (request.url ?? ''),
		headers: [
			...endToEndFields(request.rawHeaders, credentialFields),
			...['host', gateway.host, 'authorization', `Bearer ${accessToken}`],
			...(request.headers['transfer-encoding'] !== undefined && !hasLength ? ['transfer-encoding', 'chunked'] : []),
		],
	};
	const send = (): ClientRequest => {
		const outgoing = gateway.protocol === 'https:' ? requestHttps(gateway, options) : requestHttp(gateway, options);
		const abort = (): void => void outgoing.destroy();
		response.once('close', abort);
		outgoing.on('close', () => response.off('close', abort));
		for (const piece of body.pieces) outgoing.write(piece);
		if (body.isWhole) outgoing.end();
		else request.pipe(outgoing);
		return outgoing;
	};
	const first = send();
	try {
		return await responseOf(first);
	} catch (cause) {
		// The gateway may close an idle connection at the moment that a request takes it.
		if (!first.reusedSocket || !body.isWhole || response.destroyed) throw cause;
		return responseOf(send());
	}
}

function responseOf(outgoing: ClientRequest): Promise<IncomingMessage> {
	return new Promise((resolve, fail) => {
		// The error listener stays: an error after the response shows in the response too.
		outgoing.on('response', resolve).on('error', fail);
	});
}

/** Reads the whole body, or its beginning if it is large; the rest then waits in the request. */
function readBody(request: IncomingMessage): Promise<RequestBody> {
	return new Promise((resolve, fail) => {
		const pieces: Buffer[] = [];
		let byteCount = 0;
		const take = (piece: Buffer): void => {
			pieces.push(piece);
			byteCount += piece.length;
			if (byteCount > maxReplayableBytes) finish(false);
		};
		const end = (): void => finish(true);
		const finish = (isWhole: boolean): void => {
			request.pause().off('data', take).off('end', end);
			resolve({ pieces, isWhole });
		};
		request.on('error', fail).on('data', take).on('end', end);
	});
}

/** Filters name and value pairs: without the fields of the connection, those that `connection` names, and `others`. */
function endToEndFields(rawHeaders: readonly string[], others: readonly string[]): string[] {
	const pairs = Array.from({ length: rawHeaders.length / 2 }, (_, index) => rawHeaders.slice(2 * index, 2 * index + 2));
	const named = pairs.filter(([name]) => name?.toLowerCase() === 'connection').flatMap(([, value = '']) => value.toLowerCase().split(','));
	const dropped = new Set([...ownFields, ...others, ...named.map((name) => name.trim())]);
	return pairs.filter(([name = '']) => !dropped.has(name.toLowerCase())).flat();
}

/** Responds in a form that the SDKs of OpenAI and Anthropic both show. */
function reject(response: ServerResponse, status: number, code: string, message: string): void {
	const type = status === 403 ? 'permission_error' : status === 400 ? 'invalid_request_error' : 'api_error';
	const body = JSON.stringify({ type: 'error', error: { type, message, code, param: null } });
	// Closes the connection, because the rest of the request body may be unread.
	response.writeHead(status, {
		'content-type': 'application/json',
		connection: 'close',
		...(status < 500 && { 'x-should-retry': 'false' }),
	});
	response.end(body);
}

/** Path without query, which may contain a key. */
function pathOf({ url = '' }: IncomingMessage): string {
	return url.split('?', 1)[0] ?? '';
}

function messageOf(cause: unknown): string {
	if (!(cause instanceof Error)) return String(cause);
	return cause.message || ('code' in cause ? String(cause.code) : cause.name);
}
