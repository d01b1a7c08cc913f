import { describe, expect, test } from 'vitest';
import { HandStream, Reader } from '../../../test/support/gateway-bench.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { HandFedStream } from '../../../test/support/manual-stream.ts';
import { createRecordingLog } from '../../../test/support/recording-log.ts';
import { isByteStream, streamOf } from '../../core/byte-stream.ts';
import type { Caller } from '../../core/caller.ts';
import type { HttpRequest, HttpResponse } from '../../core/handler.ts';
import { Rejection } from '../../core/rejection.ts';
import type { UpstreamRequest } from '../../core/upstream.ts';
import { UpstreamError, type UpstreamErrorCode } from '../../core/upstream-error.ts';
import { forwardToGateways } from './forward-to-gateways.ts';
import { InFlightResponses } from './relayed-response.ts';

const [a, b, c] = ['http://a:1', 'http://b:1', 'http://c:1'];
const timeouts = { connectMs: 1, firstByteMs: 2, idleMs: 3, totalMs: 4 };

const example: HttpRequest = {
	id: 'req_1',
	method: 'POST',
	path: '/v1/messages',
	query: '',
	headers: { authorization: 'Bearer t' },
	body: streamOf([Buffer.from('{}')]),
	announcedLength: 2,
	peerAddress: '127.0.0.1',
	arrivedMs: 0,
	onClientDisconnect: () => undefined,
};

async function fewTurns(): Promise<void> {
	for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
}

/** Starts an edge whose gateways return 200, except those in `broken`. It draws the first and the second of the eligible ones. */
function start({ gateways = [a, b, c], isStreaming = false }: { gateways?: readonly string[]; isStreaming?: boolean } = {}) {
	const clock = new ManualClock();
	const log = createRecordingLog();
	const sent: UpstreamRequest[] = [];
	const broken = new Map<string, UpstreamErrorCode | Error>();
	/** Gateways to which a request was sent before it failed. */
	const takers = new Set<string>();
	/** Gateways that requested the body before the request failed. */
	const starters = new Set<string>();
	const bodies: HandFedStream[] = [];
	const draws: number[] = [];
	/** Delay of each gateway before it responds or fails. */
	const delays = new Map<string, Promise<void>>();
	const states = new Map<string, 'ok' | 'shutting_down' | 'error' | 'gone' | 'endless'>();
	const probe = (origin: string): { status: number; headers: object; body: ReturnType<typeof streamOf> } => {
		const state = states.get(origin) ?? 'ok';
		if (state === 'gone') throw new UpstreamError('provider_connect_timeout');
		return {
			status: state === 'error' ? 500 : 200,
			headers: {},
			body: streamOf([Buffer.from(JSON.stringify({ status: state }).padEnd(state === 'endless' ? 70_000 : 0))]),
		};
	};
	const inFlightResponses = new InFlightResponses();
	const forwarding = forwardToGateways(
		{ gateways, tokenHeaders: ['authorization', 'x-api-key', 'api-key'], timeouts, healthCheck: { intervalMs: 1000, timeoutMs: 500 } },
		{
			clock,
			log,
			inFlightResponses,
			random: () => draws.shift() ?? 0,
			async upstream(request) {
				if (request.target === '/') return { ...probe(request.origin), headers: {} };
				sent.push(request);
				await delays.get(request.origin);
				const failure = broken.get(request.origin);
				if (takers.has(request.origin)) request.onSent?.();
				if (starters.has(request.origin) && isByteStream(request.body)) request.body.start(new Reader());
				if (failure !== undefined) throw typeof failure === 'string' ? new UpstreamError(failure) : failure;
				const body = new HandFedStream();
				bodies.push(body);
				const headers = {
					'x-answered-by': request.origin,
					'x-request-id': 'req_of_gateway',
					...(isStreaming && { 'content-type': 'text/event-stream' }),
				};
				return { status: 200, headers, body };
			},
		},
	);
	const check = async (changes: Partial<HttpRequest> = {}): Promise<HttpResponse> =>
		forwarding.handle({ ...example, body: streamOf([Buffer.from('{}')]), ...changes });
	/** Sends a request and reads the response to its end. */
	const requestNonStreaming = async (): Promise<HttpResponse> => {
		const response = await check();
		if (isByteStream(response.body)) {
			response.body.start(new Reader());
			bodies.at(-1)?.end();
		}
		return response;
	};
	const origins = (): string[] => sent.splice(0).map(({ origin }) => origin);
	/** Sends a request and leaves the response open. */
	const requestOpen = async (count: number): Promise<void> => {
		for (let index = 0; index < count; index++) {
			const { body } = await check();
			if (isByteStream(body)) body.start(new Reader());
		}
	};
	const probeAll = async (): Promise<void> => {
		clock.advance(1000);
		await fewTurns();
	};
	return {
		check,
		requestNonStreaming,
		requestOpen,
		probeAll,
		forwarding,
		inFlightResponses,
		clock,
		log,
		sent,
		broken,
		takers,
		starters,
		bodies,
		states,
		draws,
		delays,
		origins,
	};
}

describe('load balancing', () => {
	test('selects the one with fewer open responses of two random gateways', async () => {
		const { requestOpen, bodies, origins } = start();
		await requestOpen(1);
		expect(origins()).toEqual([a]);
		await requestOpen(2);
		expect(origins(), 'a has one, b takes the second; then they are even').toEqual([b, a]);
		await requestOpen(1);
		bodies[0]?.end();
		bodies[2]?.fail(new UpstreamError('provider_disconnected'));
		await requestOpen(2);
		expect(origins(), 'both answers of a are over').toEqual([b, a, a]);
	});

	test('follows the load for the remaining one of the two, whichever they are', async () => {
		const { requestOpen, origins, forwarding } = start({ gateways: Array.from({ length: 10 }, (_, index) => `http://gateway-${index}:1`) });
		await requestOpen(100);
		expect(new Set(origins()).size, 'with this chance two are drawn for ever').toBe(2);
		expect(forwarding.isAnyUsable()).toBe(true);
	});

	test('skips an unreachable gateway in the same request, and until it responds to GET / again', async () => {
		const { check, origins, broken, forwarding, probeAll, states, log } = start();
		await forwarding.start();
		broken.set(a, 'provider_unreachable');
		states.set(a, 'gone');
		expect((await check()).status).toBe(200);
		expect(origins()).toEqual([a, b]);
		for (let index = 0; index < 3; index++) expect((await check()).status).toBe(200);
		await probeAll();
		await check();
		expect(origins()).not.toContain(a);
		broken.clear();
		states.clear();
		await check();
		expect(origins()).not.toContain(a);
		await probeAll();
		await check();
		expect(origins()).toContain(a);
		expect(log.lines).toMatchObject([
			{ event: 'gateway unhealthy', fields: { gateway: a, reason: 'connection failed' } },
			{ event: 'gateway back in rotation' },
		]);
		forwarding.stop();
	});

	test('selects a gateway that has come back more and more often, for ten seconds', async () => {
		const { requestNonStreaming, origins, forwarding, probeAll, states, draws, clock } = start({ gateways: [a, b] });
		/** Returns whether the first gateway is chosen if the random number is `chance`. */
		const isChosenAt = async (chance: number): Promise<boolean> => {
			draws.push(chance);
			await requestNonStreaming();
			return origins()[0] === a;
		};
		states.set(a, 'shutting_down');
		await forwarding.start();
		expect(await isChosenAt(0)).toBe(false);
		states.clear();
		await probeAll();
		expect([await isChosenAt(0.09), await isChosenAt(0.11)], 'a tenth at least').toEqual([true, false]);
		clock.advance(5000);
		expect([await isChosenAt(0.49), await isChosenAt(0.51)]).toEqual([true, false]);
		clock.advance(5000);
		expect(await isChosenAt(0.999)).toBe(true);
		forwarding.stop();
	});

	test.each(['shutting_down', 'error'] as const)('sends nothing new to a gateway whose GET / returns %s', async (state) => {
		const { check, origins, forwarding, states } = start();
		states.set(a, state).set(b, state);
		await forwarding.start();
		for (let index = 0; index < 5; index++) await check();
		expect(new Set(origins())).toEqual(new Set([c]));
		forwarding.stop();
	});

	test('tolerates one late response, but not from a gateway that never responded', async () => {
		const { check, origins, forwarding, states, probeAll } = start({ gateways: [a] });
		states.set(a, 'gone');
		await forwarding.start();
		expect(forwarding.isAnyUsable()).toBe(false);
		states.set(a, 'ok');
		await probeAll();
		expect(forwarding.isAnyUsable()).toBe(true);
		states.set(a, 'gone');
		await probeAll();
		expect(forwarding.isAnyUsable()).toBe(true);
		await probeAll();
		expect(forwarding.isAnyUsable()).toBe(false);
		await check();
		expect(origins(), 'when all are away one is tried all the same').toEqual([a]);
		forwarding.stop();
		expect((await check()).status).toBe(200);
	});

	test('treats an endless response as no gateway’s, and logs it', async () => {
		const { states, forwarding, probeAll, log } = start({ gateways: [a] });
		states.set(a, 'endless');
		await forwarding.start();
		await probeAll();
		forwarding.stop();
		const reason = 'GET / returned more than 65536 bytes: not a Tollgate gateway';
		expect(log.lines.map(({ event, fields }) => ({ event, fields }))).toEqual([
			{ event: 'gateway unhealthy', fields: { gateway: a, reason } },
		]);
	});

	test('sends no health checks after it is stopped', async () => {
		const { forwarding, clock } = start();
		await forwarding.start();
		forwarding.stop();
		expect(clock.pending).toBe(0);
	});

	test('ejects a gateway after three lost requests in a row', async () => {
		const { check, origins, broken, takers, clock } = start({ gateways: [a, b] });
		broken.set(a, 'provider_unreachable');
		takers.add(a);
		for (let index = 0; index < 3; index++) expect((await check()).status).toBe(502);
		expect(origins()).toEqual([a, a, a]);
		expect((await check()).status).toBe(200);
		clock.advance(4999);
		await check();
		expect(origins()).toEqual([b, b]);
		clock.advance(10_001);
		expect((await check()).status).toBe(502);
		expect(origins()).toEqual([a]);
	});

	test.each(['provider_unreachable', 'provider_connect_timeout'] as const)(
		'returns 503 if none is reachable (%s), with each tried at most once',
		async (code) => {
			const { check, origins, broken } = start();
			for (const origin of [a, b, c]) broken.set(origin, code);
			const response = await check();
			expect(response).toMatchObject({
				status: 503,
				record: { code: 'no_gateway' },
				headers: { 'retry-after': '5', 'content-type': 'text/html; charset=utf-8' },
			});
			expect(origins().toSorted()).toEqual([a, b, c]);
			await check();
			expect(origins(), 'no client waits for several that were away before').toHaveLength(code === 'provider_unreachable' ? 3 : 1);
			broken.clear();
			expect((await check()).status, 'back at once').toBe(200);
		},
	);

	test('finds a gateway that returns when all were unavailable, and sends it all later requests', async () => {
		const many = Array.from({ length: 10 }, (_, index) => `http://gateway-${index}:1`);
		const { check, origins, broken, draws, log, clock } = start({ gateways: many });
		for (const origin of many) broken.set(origin, 'provider_unreachable');
		expect((await check()).status).toBe(503);
		expect(origins(), 'a rejected connection costs no time').toHaveLength(10);
		broken.delete('http://gateway-7:1');
		expect((await check()).status).toBe(200);
		expect(origins().at(-1)).toBe('http://gateway-7:1');
		for (let index = 0; index < 100; index++) {
			draws.push(...Array.from({ length: 4 }, () => (index * 0.618) % 1));
			clock.advance(1);
			expect((await check()).status).toBe(200);
		}
		expect(new Set(origins())).toEqual(new Set(['http://gateway-7:1']));
		expect(log.lines.filter(({ event }) => event === 'gateway back in rotation')).toHaveLength(1);
	});

	test('tries a gateway again that returns while a request tries the others', async () => {
		const { check, origins, broken, delays } = start();
		for (const origin of [a, b, c]) broken.set(origin, 'provider_unreachable');
		await check();
		origins();
		const slow = Promise.withResolvers<void>();
		delays.set(c, slow.promise);
		const early = check();
		await fewTurns();
		expect(origins(), 'a and b rejected it, c does not answer yet').toEqual([a, b, c]);
		broken.delete(a);
		expect((await check()).status).toBe(200);
		slow.resolve();
		expect((await early).status).toBe(200);
		expect(origins()).toEqual([a, a]);
	});

	test('does not remove a gateway for findings from before its return', async () => {
		const { check, broken, delays, forwarding, log } = start({ gateways: [a] });
		broken.set(a, 'provider_unreachable');
		await check();
		const slow = Promise.withResolvers<void>();
		delays.set(a, slow.promise);
		const early = check();
		await fewTurns();
		delays.clear();
		broken.clear();
		expect((await check()).status).toBe(200);
		broken.set(a, 'provider_unreachable');
		slow.resolve();
		await early;
		expect(log.lines.map(({ event }) => event)).toEqual(['gateway unhealthy', 'gateway back in rotation', 'gateway unhealthy']);
		expect(forwarding.isAnyUsable(), 'by its second attempt').toBe(false);
	});

	test('does not put a gateway that is shutting down back because of a response', async () => {
		const { check, origins, forwarding, states, probeAll } = start({ gateways: [a, b] });
		states.set(a, 'shutting_down').set(b, 'gone');
		await forwarding.start();
		expect((await check()).status).toBe(200);
		expect(origins(), 'the one that may take connections first').toEqual([a]);
		expect(forwarding.isAnyUsable()).toBe(false);
		states.clear();
		await probeAll();
		expect(forwarding.isAnyUsable()).toBe(true);
		forwarding.stop();
	});

	test('gives up a request after three gateways with a connection timeout', async () => {
		const many = Array.from({ length: 10 }, (_, index) => `http://gateway-${index}:1`);
		const { check, origins, broken } = start({ gateways: many });
		for (const origin of many) broken.set(origin, 'provider_connect_timeout');
		expect((await check()).status).toBe(503);
		expect(origins()).toHaveLength(3);
	});
});

describe('a request is sent once', () => {
	test('lost after it was sent in part: 502, no other gateway receives it', async () => {
		const { check, origins, broken, takers } = start();
		broken.set(a, 'provider_unreachable');
		takers.add(a);
		expect(await check()).toMatchObject({ status: 502, record: { code: 'gateway_unreachable' } });
		expect(await check({ method: 'POST', announcedLength: 0 })).toMatchObject({ status: 502 });
		expect(origins()).toEqual([a, a]);
	});

	test('reads can be repeated', async () => {
		const { check, origins, broken, takers } = start();
		broken.set(a, 'provider_unreachable');
		takers.add(a);
		expect((await check({ method: 'GET', announcedLength: 0 })).status).toBe(200);
		expect(origins()).toEqual([a, b]);
	});

	test('lost once an upload has started: no other gateway is tried, and none is marked unreachable', async () => {
		const { check, broken, starters, origins, log } = start({ gateways: [a, b] });
		broken.set(a, 'provider_unreachable');
		starters.add(a);
		const body = streamOf([Buffer.from('{}')]);
		expect(await check({ announcedLength: undefined, body })).toMatchObject({ status: 502, record: { code: 'gateway_unreachable' } });
		expect(origins()).toEqual([a]);
		expect(log.lines.map(({ event }) => event)).not.toContain('gateway unhealthy');
	});

	test('a client that asks for JSON, as both SDKs do, gets the error in JSON; with no reachable gateway every client gets a page', async () => {
		const { check, broken, takers } = start({ gateways: [a] });
		broken.set(a, 'provider_disconnected');
		takers.add(a);
		const lost = await check({ headers: { ...example.headers, accept: 'Application/JSON' } });
		expect(lost).toMatchObject({ status: 502, headers: { 'content-type': 'application/json' } });
		expect(JSON.parse(typeof lost.body === 'string' ? lost.body : '')).toMatchObject({
			type: 'error',
			error: { type: 'api_error', code: 'gateway_unreachable' },
			request_id: 'req_1',
		});
		takers.clear();
		const outage = await check({ headers: { ...example.headers, accept: 'application/json' } });
		expect([outage.status, outage.headers['content-type']]).toEqual([503, 'text/html; charset=utf-8']);
	});

	test.each(['provider_first_byte_timeout', 'provider_total_timeout'] as const)('%s: 502, and no failure of the gateway', async (code) => {
		const { check, requestNonStreaming, origins, broken, takers } = start();
		broken.set(a, code);
		takers.add(a);
		for (let index = 0; index < 5; index++) expect(await check()).toMatchObject({ status: 502, record: { code: 'gateway_unreachable' } });
		broken.clear();
		await requestNonStreaming();
		expect(origins()).toEqual([a, a, a, a, a, a]);
	});

	test('a client that disconnected is no failure of the gateway', async () => {
		const { check, requestNonStreaming, origins, broken, takers } = start();
		broken.set(a, new Rejection('client_closed'));
		takers.add(a);
		for (let index = 0; index < 5; index++) expect((await check()).record?.code).toBe('client_closed');
		broken.clear();
		await requestNonStreaming();
		expect(origins()).toEqual([a, a, a, a, a, a]);
	});

	test('an internal error is no failure of the gateway', async () => {
		const { check, broken } = start();
		broken.set(a, new TypeError('ours'));
		await expect(check()).rejects.toThrow('ours');
	});
});

describe('forwarded requests and responses', () => {
	test('fields of the connection are removed, all others pass', async () => {
		const { check, sent } = start();
		const headers = {
			host: 'edge.example',
			connection: 'keep-alive, X-Hop',
			'x-hop': 'mine',
			'keep-alive': '5',
			te: 'trailers',
			'transfer-encoding': 'chunked',
			expect: '100-continue',
			authorization: 'Bearer t',
			accept: 'application/json',
			'x-many': ['1', '2'],
		};
		await check({ headers, query: 'a=1&b=2', announcedLength: undefined });
		expect(sent[0]).toMatchObject({ method: 'POST', target: '/v1/messages?a=1&b=2', timeouts });
		expect(sent[0]?.headers).toEqual({ authorization: 'Bearer t', accept: 'application/json', 'x-many': '1, 2' });
		await check();
		expect(sent[1]?.headers).toEqual({ authorization: 'Bearer t', 'content-length': '2' });
		await check({ method: 'GET', announcedLength: 0 });
		expect(sent[2]).toMatchObject({ body: null, headers: {} });
	});

	test.each<[title: string, headers: HttpRequest['headers']]>([
		['authorization, whatever else is there', { authorization: 'Bearer t', 'x-api-key': 'u', 'api-key': 'v', 'x-goog-api-key': 'w' }],
		['x-api-key', { 'x-api-key': 't' }],
		['api-key, and not what this edge does not read', { 'api-key': 't', 'x-goog-api-key': 'u' }],
	])('the token reaches the gateway only in `authorization`: from %s', async (_title, headers) => {
		const { check, sent } = start();
		await check({ headers });
		expect(sent[0]?.headers).toEqual({ authorization: 'Bearer t', 'content-length': '2' });
	});

	test('the response passes in chunks, and the log line names the client and what the firewall monitored', async () => {
		const { check, bodies, clock } = start();
		clock.advance(50);
		const caller = { clientId: 'agent' } as Caller;
		const response = await check({ caller, arrivedMs: 20, monitored: ['firewall_rule_matched'] });
		expect(response).toMatchObject({
			status: 200,
			headers: { 'x-answered-by': a },
			record: { clientId: 'agent', upstreamStatus: 200, firstByteMs: 30, monitored: ['firewall_rule_matched'] },
		});
		const reader = new Reader();
		if (!isByteStream(response.body)) throw new Error('not a stream');
		const flow = response.body.start(reader);
		bodies[0]?.push('one ');
		reader.canWrite = false;
		expect(bodies[0]?.push('two'), 'back pressure passes').toBe(false);
		flow.resume();
		expect(bodies[0]?.resumes).toBe(1);
		bodies[0]?.end();
		expect([reader.text, reader.ending]).toEqual(['one two', 'ended']);
	});

	test('a client that disconnects ends the response', async () => {
		const { check, bodies } = start();
		const { body } = await check();
		if (!isByteStream(body)) throw new Error('not a stream');
		body.start(new Reader()).cancel();
		expect(bodies[0]?.isCancelled).toBe(true);
	});

	test('a gateway lost in the middle of its response', async () => {
		const { check, bodies } = start();
		const response = await check();
		if (!isByteStream(response.body)) throw new Error('not a stream');
		let failure: unknown;
		response.body.start({ write: () => true, end: () => undefined, fail: (cause) => (failure = cause) });
		bodies[0]?.fail(new UpstreamError('provider_disconnected'));
		expect(failure).toMatchObject({ code: 'gateway_unreachable' });
	});

	test('an event stream that loses its gateway between two events ends with an error event, in the client’s format', async () => {
		const { check, bodies } = start({ isStreaming: true });
		const { body } = await check();
		if (!isByteStream(body)) throw new Error('not a stream');
		const reader = new Reader();
		body.start(reader);
		bodies[0]?.push('event: ping\ndata: {"type":"ping"}\n\n');
		bodies[0]?.fail(new UpstreamError('provider_disconnected'));
		expect(reader.ending).toBe('ended');
		expect(reader.text).toMatch(/^event: ping\ndata: {"type":"ping"}\n\nevent: error\ndata: {.*"code":"gateway_unreachable".*}\n\n$/);
		expect(reader.text, 'one id, as in the answer’s head').toContain('"request_id":"req_of_gateway"');
	});

	test('a resumed stream of a stored response ends with an error event too', async () => {
		const { check, bodies } = start({ isStreaming: true });
		const { body } = await check({ method: 'GET', path: '/v1/responses/resp_1', query: 'stream=true' });
		if (!isByteStream(body)) throw new Error('not a stream');
		const reader = new Reader();
		body.start(reader);
		bodies[0]?.push('event: response.in_progress\ndata: {"sequence_number":4}\n\n');
		bodies[0]?.fail(new UpstreamError('provider_disconnected'));
		expect([reader.ending, reader.text]).toEqual(['ended', expect.stringContaining('"sequence_number":5,"code":"gateway_unreachable"')]);
	});

	test('in the middle of an event it is cut: no client gets half an event and then another', async () => {
		const { check, bodies } = start({ isStreaming: true });
		const { body } = await check();
		if (!isByteStream(body)) throw new Error('not a stream');
		const reader = new Reader();
		body.start(reader);
		bodies[0]?.push('event: ping\ndata: {"ty');
		bodies[0]?.fail(new UpstreamError('provider_disconnected'));
		expect([reader.text, reader.ending]).toEqual(['event: ping\ndata: {"ty', 'failed']);
	});

	test.each([
		['lines that end in CR LF', ['event: ping\r\ndata: {}\r\n\r\n'], true],
		['the same, byte by byte', 'event: ping\r\ndata: {}\r\n\r\n'.split(''), true],
		['lines that end in CR', ['data: {}\r\r'], true],
		['a line feed in a piece of its own, which ends a line', ['data: {}', '\n'], false],
		['line feeds in pieces of their own, which end an event', ['data: {}', '\n', '\n'], true],
		['CR LF, which is one end of a line', ['data: {}\r\n'], false],
		['CR LF in two pieces', ['data: {}\r', '\n'], false],
	])('event boundaries are known for %s', async (_name, pieces, isBetween) => {
		const { check, bodies } = start({ isStreaming: true });
		const { body } = await check();
		if (!isByteStream(body)) throw new Error('not a stream');
		const reader = new Reader();
		body.start(reader);
		for (const piece of pieces) bodies[0]?.push(piece);
		bodies[0]?.fail(new UpstreamError('provider_disconnected'));
		expect([reader.text.includes('event: error'), reader.ending]).toEqual([isBetween, isBetween ? 'ended' : 'failed']);
	});

	test('at a shutdown, streams end after the current event; other responses continue', async () => {
		const { check, bodies, inFlightResponses } = start({ isStreaming: true });
		const readers = [new Reader(), new Reader(), new Reader()];
		for (const [index, reader] of readers.entries()) {
			const { body } = await check({ path: index === 2 ? '/v1/models' : '/v1/chat/completions' });
			if (isByteStream(body)) body.start(reader);
		}
		bodies[0]?.push('data: {}\n\n');
		bodies[1]?.push('data: {');
		inFlightResponses.endAll();
		inFlightResponses.endAll();
		expect(readers.map(({ ending }) => ending)).toEqual(['ended', 'open', 'open']);
		expect(readers[0]?.text).toMatch(/^data: {}\n\ndata: {"error":.*"code":"draining".*}\n\n$/);
		expect(bodies.map(({ isCancelled }) => isCancelled)).toEqual([true, false, false]);
		bodies[1]?.push('}\n\n');
		expect([readers[1]?.ending, bodies[1]?.isCancelled]).toEqual(['ended', true]);
		expect(readers[1]?.text).toMatch(/^data: {}\n\ndata: {"error":/);
		expect(inFlightResponses.size).toBe(1);
		bodies[2]?.end();
		expect([readers[2]?.ending, inFlightResponses.size]).toEqual(['ended', 0]);
	});

	test('a short body is read before it is sent, a long one or one of unknown length is streamed', async () => {
		const { check, sent } = start();
		await check();
		expect(sent[0]?.body).toEqual(Buffer.from('{}'));
		for (const announcedLength of [65_537, undefined]) {
			const body = new HandStream();
			await check({ announcedLength, body });
			expect(body.sink).toBeUndefined();
			const handedOn = sent.at(-1)?.body;
			const sink = new Reader();
			if (handedOn !== undefined && isByteStream(handedOn)) handedOn.start(sink);
			expect(body.sink).toBe(sink);
		}
	});

	test('a body that does not arrive is a client error, and reaches no gateway', async () => {
		const { check, sent } = start();
		const body = new HandStream();
		const response = check({ body });
		body.sink?.fail(new Rejection('body_timeout'));
		expect(await response).toMatchObject({ status: 408, record: { code: 'body_timeout' } });
		expect(sent).toEqual([]);
	});
});
