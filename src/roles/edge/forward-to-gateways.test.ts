import { describe, expect, test } from 'vitest';
import { HandStream, Reader } from '../../../test/support/gateway-bench.ts';
import { HandFedStream } from '../../../test/support/hand-fed-stream.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { isByteStream, streamOf } from '../../core/byte-stream.ts';
import type { Caller } from '../../core/caller.ts';
import { Fault, type FaultCode } from '../../core/fault.ts';
import type { HttpRequest, HttpResponse } from '../../core/handler.ts';
import { Refusal } from '../../core/refusal.ts';
import type { UpstreamRequest } from '../../core/upstream.ts';
import { forwardToGateways } from './forward-to-gateways.ts';

const [a, b, c] = ['http://a:1', 'http://b:1', 'http://c:1'];
const timeouts = { connectMs: 1, firstByteMs: 2, idleMs: 3, totalMs: 4 };

const example: HttpRequest = {
	id: 'req_1',
	method: 'POST',
	path: '/v1/messages',
	query: '',
	headers: {},
	body: streamOf([Buffer.from('{}')]),
	announcedLength: 2,
	peerAddress: '127.0.0.1',
	arrivedMs: 0,
	onClientGone: () => undefined,
};

/** An edge whose gateways answer 200, but for those in `broken`. */
function start(gateways: readonly string[] = [a, b, c]) {
	const clock = new ManualClock();
	const sent: UpstreamRequest[] = [];
	const broken = new Map<string, FaultCode | Error>();
	/** Whether what fails has taken the body first. */
	const takers = new Set<string>();
	const bodies: HandFedStream[] = [];
	const handle = forwardToGateways(
		{ gateways, timeouts },
		{
			clock,
			async upstream(request) {
				sent.push(request);
				const failure = broken.get(request.origin);
				if (takers.has(request.origin) && request.body !== null && !Buffer.isBuffer(request.body)) {
					request.body.start({ write: () => true, end: () => undefined, fail: () => undefined });
				}
				if (failure !== undefined) throw typeof failure === 'string' ? new Fault(failure) : failure;
				const body = new HandFedStream();
				bodies.push(body);
				return { status: 200, headers: { 'x-answered-by': request.origin }, body };
			},
		},
	);
	const ask = (changes: Partial<HttpRequest> = {}): Promise<HttpResponse> => handle({ ...example, body: new HandStream(), ...changes });
	const origins = (): string[] => sent.splice(0).map(({ origin }) => origin);
	return { ask, clock, sent, broken, takers, bodies, origins };
}

describe('which gateway', () => {
	test('they take turns', async () => {
		const { ask, origins } = start();
		for (let index = 0; index < 6; index++) await ask();
		expect(origins()).toEqual([b, c, a, b, c, a]);
	});

	test('one that cannot be reached is passed over in the same request, rests, and is tried again', async () => {
		const { ask, origins, broken, clock } = start();
		broken.set(b, 'provider_unreachable');
		expect((await ask()).status).toBe(200);
		expect(origins()).toEqual([b, c]);
		for (let index = 0; index < 3; index++) expect((await ask()).status).toBe(200);
		expect(origins()).not.toContain(b);
		broken.clear();
		clock.advance(4999);
		for (let index = 0; index < 3; index++) await ask();
		expect(origins()).not.toContain(b);
		clock.advance(1);
		for (let index = 0; index < 3; index++) await ask();
		expect(origins().toSorted()).toEqual([a, b, c]);
	});

	test.each(['provider_unreachable', 'provider_connect_timeout'] as const)(
		'when none can be reached (%s): 503, each tried at most once',
		async (code) => {
			const { ask, origins, broken } = start();
			for (const origin of [a, b, c]) broken.set(origin, code);
			const answer = await ask();
			expect(answer).toMatchObject({
				status: 503,
				facts: { code: 'no_gateway' },
				headers: { 'retry-after': '5', 'content-type': 'text/html; charset=utf-8' },
			});
			expect(origins()).toEqual([b, c, a]);
			await ask();
			expect(origins(), 'all rest: the next in turn is asked all the same').toHaveLength(1);
			broken.clear();
			expect((await ask()).status, 'back at once').toBe(200);
		},
	);

	test('a request gives up after three gateways', async () => {
		const many = Array.from({ length: 10 }, (_, index) => `http://gateway-${index}:1`);
		const { ask, origins, broken } = start(many);
		for (const origin of many) broken.set(origin, 'provider_unreachable');
		expect((await ask()).status).toBe(503);
		expect(origins()).toHaveLength(3);
	});
});

describe('a request is sent once', () => {
	test('lost after its body began to leave: 502, no other gateway sees it', async () => {
		const { ask, origins, broken, takers } = start();
		broken.set(b, 'provider_unreachable');
		takers.add(b);
		expect(await ask()).toMatchObject({ status: 502, facts: { code: 'gateway_unreachable' } });
		expect(origins()).toEqual([b]);
	});

	test('without a body only reading may be repeated', async () => {
		const { ask, origins, broken } = start();
		broken.set(b, 'provider_unreachable').set(a, 'provider_unreachable');
		expect((await ask({ method: 'POST', announcedLength: 0 })).status).toBe(502);
		expect(origins()).toEqual([b]);
		await ask();
		origins();
		expect((await ask({ method: 'GET', announcedLength: 0 })).status).toBe(200);
		expect(origins()).toContain(c);
	});

	test.each(['provider_first_byte_timeout', 'provider_total_timeout', 'provider_disconnected'] as const)(
		'%s: 502, and the gateway does not rest',
		async (code) => {
			const { ask, origins, broken } = start();
			broken.set(b, code);
			expect(await ask()).toMatchObject({ status: 502, facts: { code: 'gateway_unreachable' } });
			broken.clear();
			for (let index = 0; index < 3; index++) await ask();
			expect(origins()).toEqual([b, c, a, b]);
		},
	);

	test('a client that left is no fault of the gateway', async () => {
		const { ask, origins, broken } = start();
		broken.set(b, new Refusal('client_closed'));
		expect((await ask()).facts?.code).toBe('client_closed');
		broken.clear();
		for (let index = 0; index < 3; index++) await ask();
		expect(origins()).toEqual([b, c, a, b]);
	});

	test('a defect is not taken for a gateway’s failure', async () => {
		const { ask, broken } = start();
		broken.set(b, new TypeError('ours'));
		await expect(ask()).rejects.toThrow('ours');
	});
});

describe('what is handed on', () => {
	test('fields of the connection stay behind, all others pass', async () => {
		const { ask, sent } = start();
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
		await ask({ headers, query: 'a=1&b=2', announcedLength: undefined });
		expect(sent[0]).toMatchObject({ method: 'POST', target: '/v1/messages?a=1&b=2', timeouts });
		expect(sent[0]?.headers).toEqual({ authorization: 'Bearer t', accept: 'application/json', 'x-many': '1, 2' });
		await ask();
		expect(sent[1]?.headers).toEqual({ 'content-length': '2' });
		await ask({ method: 'GET', announcedLength: 0 });
		expect(sent[2]).toMatchObject({ body: null, headers: {} });
	});

	test('the answer passes in pieces, and the log line names the caller', async () => {
		const { ask, bodies, clock } = start();
		clock.advance(50);
		const caller = { clientId: 'agent' } as Caller;
		const answer = await ask({ caller, arrivedMs: 20 });
		expect(answer).toMatchObject({
			status: 200,
			headers: { 'x-answered-by': b },
			facts: { clientId: 'agent', upstreamStatus: 200, firstByteMs: 30 },
		});
		const reader = new Reader();
		if (!isByteStream(answer.body)) throw new Error('not a stream');
		const flow = answer.body.start(reader);
		bodies[0]?.push('one ');
		reader.mayWrite = false;
		expect(bodies[0]?.push('two'), 'back pressure passes').toBe(false);
		flow.resume();
		expect(bodies[0]?.resumes).toBe(1);
		bodies[0]?.end();
		expect([reader.text, reader.ending]).toEqual(['one two', 'ended']);
		flow.cancel();
		expect(bodies[0]?.isCancelled).toBe(true);
	});

	test('a gateway lost in the middle of its answer', async () => {
		const { ask, bodies } = start();
		const answer = await ask();
		if (!isByteStream(answer.body)) throw new Error('not a stream');
		let failure: unknown;
		answer.body.start({ write: () => true, end: () => undefined, fail: (cause) => (failure = cause) });
		bodies[0]?.fail(new Fault('provider_disconnected'));
		expect(failure).toMatchObject({ code: 'gateway_unreachable' });
	});
});
