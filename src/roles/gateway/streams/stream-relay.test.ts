import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
	chatBody,
	GatewayBench,
	HandStream,
	messagesBody,
	readStream,
	settle,
	sseResponse,
	textOf,
} from '../../../../test/support/gateway-bench.ts';
import { type Recording, readRecordings, recordedBytes } from '../../../../test/support/recordings.ts';
import { streamOf } from '../../../core/byte-stream.ts';
import type { HttpRequest } from '../../../core/handler.ts';
import { UpstreamError } from '../../../core/upstream-error.ts';

// Requests usage, so that the gateway adds nothing to the stream.
const streaming = (body: string) => body.replace('{', '{"stream":true,"stream_options":{"include_usage":true},');
const requests = {
	chat: {
		path: '/v1/chat/completions',
		body: streaming(chatBody),
		event: 'data: {"choices":[]}\n\n',
		last: 'data: [DONE]\n\n',
		broken: 'data: {"error":{',
	},
	messages: {
		path: '/v1/messages',
		body: streaming(messagesBody),
		event: 'event: ping\ndata: {"type":"ping"}\n\n',
		last: 'event: message_stop\ndata: {"type":"message_stop"}\n\n',
		broken: 'event: error\ndata: {"type":"error","error":{',
	},
};
const formats = [requests.chat, requests.messages];

/** Starts a stream. Returns the provider's end to control, and the text that the client has read. */
async function begin({ path, body }: { path: string; body: string }, more: Partial<HttpRequest> = {}, headers = {}) {
	const bench = new GatewayBench();
	const upstream = new HandStream();
	bench.respond = () => sseResponse(upstream, headers);
	const response = await bench.ask(path, body, {}, more);
	const { reader, flow } = readStream(response);
	return { bench, upstream, response, reader, flow };
}

function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
	const ends = [...new Set([...cuts.filter((cut) => cut > 0 && cut < bytes.length), bytes.length])].toSorted((one, other) => one - other);
	return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

async function pass({ response }: Recording, path: string, body: string, pieces: Buffer[]) {
	const bench = new GatewayBench();
	bench.respond = () => ({ status: response.status, headers: response.headers, body: streamOf(pieces) });
	const httpResponse = await bench.ask(path, body);
	if (response.sse === undefined || httpResponse.status !== 200) return { response: httpResponse, text: textOf(httpResponse) };
	const { reader } = readStream(httpResponse);
	while (reader.ending === 'open') await settle();
	expect([reader.ending, httpResponse.record?.code, bench.clock.pending, bench.gateway.inFlightRequests()]).toEqual([
		'ended',
		undefined,
		0,
		0,
	]);
	return { response: httpResponse, text: Buffer.from(reader.text, 'latin1').toString() };
}

describe('recorded responses', () => {
	const recorded = [
		...readRecordings('openai').map((recording) => ({ recording, ...requests.chat, plain: chatBody })),
		...readRecordings('azure').map((recording) => ({ recording, ...requests.chat, plain: chatBody.replace('gpt-5', 'our-gpt') })),
		...readRecordings('anthropic').map((recording) => ({ recording, ...requests.messages, plain: messagesBody })),
	];

	it('are all present', () => {
		expect(recorded).toHaveLength(49);
	});

	it.each(recorded.map((entry) => [entry.recording.name, entry] as const))(
		'%s passes byte for byte, complete and split',
		async (_name, { recording, path, plain }) => {
			const bytes = recordedBytes(recording);
			const body = recording.response.sse === undefined ? plain : streaming(plain);
			const expectedStatus = recording.response.status === 404 ? 502 : recording.response.status;
			const whole = await pass(recording, path, body, [bytes]);
			expect([whole.response.status, whole.text]).toEqual([expectedStatus, bytes.toString()]);
			const cuttings = fc.sample(fc.array(fc.nat(bytes.length), { minLength: 1, maxLength: 40 }), { numRuns: 5, seed: bytes.length });
			for (const cuts of cuttings) expect((await pass(recording, path, body, cutAt(bytes, cuts))).text).toBe(bytes.toString());
		},
	);
});

describe('StreamRelay', () => {
	it('responds immediately, with header fields that prevent buffering by proxies', async () => {
		const { response, reader } = await begin(requests.chat);
		expect(response).toMatchObject({
			status: 200,
			headers: {
				'content-type': 'text/event-stream; charset=utf-8',
				'cache-control': 'no-cache',
				'x-accel-buffering': 'no',
				'x-gateway-provider': 'provider_b',
			},
			record: { isStreaming: true, upstreamStatus: 200 },
		});
		expect(reader.text).toBe('');
	});

	it.each(formats)(
		'passes each event on in the turn it is complete, and no part of one before: $path',
		async ({ path, body, event, last }) => {
			const { upstream, reader } = await begin({ path, body });
			upstream.write(event);
			expect(reader.text).toBe(event);
			upstream.write(event + event.slice(0, 9));
			expect(reader.text).toBe(event + event);
			upstream.write(event.slice(9));
			expect(reader.text).toBe(event + event + event);
			upstream.write(last);
			upstream.sink?.end();
			expect([reader.text, reader.ending]).toEqual([event + event + event + last, 'ended']);
		},
	);

	it.each(formats)('ends a broken stream with an error event, never with half an event: $path', async ({ path, body, event, broken }) => {
		for (const cut of [0, 1, 6, event.length - 1]) {
			const { upstream, reader, response, bench } = await begin({ path, body });
			upstream.write(event);
			upstream.write(event.slice(0, cut));
			upstream.sink?.fail(new UpstreamError('provider_idle_timeout'));
			expect(reader.text.startsWith(event + broken)).toBe(true);
			expect(reader.text).toMatch(/"code":"provider_idle_timeout".*\n\n$/);
			expect([reader.ending, response.record?.code, bench.clock.pending, bench.gateway.inFlightRequests()]).toEqual([
				'ended',
				'provider_idle_timeout',
				0,
				0,
			]);
		}
	});

	it.each(formats)('treats a stream without its last event as broken: $path', async ({ path, body, event, last, broken }) => {
		for (const cut of [0, 5, last.length - 3]) {
			const { upstream, reader } = await begin({ path, body });
			upstream.write(event + last.slice(0, cut));
			upstream.sink?.end();
			expect(reader.text.startsWith(event + broken)).toBe(true);
			expect([reader.text.includes('"code":"provider_disconnected"'), reader.ending]).toEqual([true, 'ended']);
		}
	});

	it.each(formats)('ignores everything after the last event: $path', async ({ path, body, event, last }) => {
		const { upstream, reader, response } = await begin({ path, body });
		upstream.write(event + last);
		upstream.sink?.fail(new UpstreamError('provider_disconnected'));
		expect([reader.text, reader.ending, response.record?.code]).toEqual([event + last, 'ended', undefined]);
	});

	it('treats chat completions without `[DONE]` as complete if they have a finish reason', async () => {
		const { upstream, reader } = await begin(requests.chat);
		const text = 'data: {"choices":[{"finish_reason":"stop"}]}\n\ndata: {"choices":[],"usage":{}}\n\ndata: [DONE]\n';
		upstream.write(text);
		upstream.sink?.end();
		expect([reader.text, reader.ending]).toEqual([text, 'ended']);
	});

	it.each([
		[requests.chat, 'data: {"error": {"message":"overloaded"}}\n\n'],
		[requests.messages, 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error"}}\n\n'],
	])('ends with the provider’s own error event: $path', async (inferenceRequest, error) => {
		const { upstream, reader, response } = await begin(inferenceRequest);
		upstream.write(error);
		upstream.sink?.end();
		expect([reader.text, reader.ending, response.record?.code]).toEqual([error, 'ended', 'provider_failed']);
	});

	it('inserts comments into silence, before the first event too, and only between events', async () => {
		const { upstream, reader, bench } = await begin(requests.chat);
		const { event, last } = requests.chat;
		const comment = ': keepalive\n\n';
		bench.clock.advance(15_000);
		expect(reader.text).toBe(comment);
		upstream.write(event);
		bench.clock.advance(15_000);
		expect(reader.text).toBe(comment + event);
		bench.clock.advance(15_000);
		expect(reader.text).toBe(comment + event + comment);
		upstream.write(event.slice(0, 5));
		bench.clock.advance(45_000);
		upstream.write(event.slice(5));
		expect(reader.text).toBe(comment + event + comment.repeat(3) + event);
		upstream.write(last);
		const whole = reader.text;
		bench.clock.advance(60_000);
		expect(reader.text).toBe(whole);
	});

	it('pauses for a client that reads slowly', async () => {
		const { upstream, reader, flow, bench } = await begin(requests.chat);
		reader.canWrite = false;
		expect(upstream.write(requests.chat.event)).toBe(false);
		const before = reader.text;
		bench.clock.advance(60_000);
		expect(reader.text).toBe(before);
		reader.canWrite = true;
		flow.resume();
		expect(upstream.resumeCount).toBe(1);
		expect(upstream.write(requests.chat.event)).toBe(true);
	});

	it('aborts the upstream request when its client disconnects, however that is detected', async () => {
		for (const notifications of ['flow', 'request', 'both'] as const) {
			let disconnect: (() => void) | undefined;
			const { upstream, flow, response, bench, reader } = await begin(requests.chat, {
				onClientDisconnect: (listener) => (disconnect = listener),
			});
			upstream.write(requests.chat.event);
			if (notifications !== 'flow') disconnect?.();
			if (notifications !== 'request') flow.cancel();
			expect([upstream.isCancelled, response.record?.code, bench.gateway.inFlightRequests(), bench.clock.pending]).toEqual([
				true,
				'client_closed',
				0,
				0,
			]);
			expect(reader.text).toBe(requests.chat.event);
		}
	});

	it('is no error if the client disconnects after the last event', async () => {
		const { upstream, flow, response } = await begin(requests.chat);
		upstream.write(requests.chat.last);
		flow.cancel();
		expect(response.record?.code).toBeUndefined();
	});

	it.each(formats)('ends with a valid event when the process shuts down: $path', async ({ path, body, event, broken }) => {
		const { bench, upstream, reader, response } = await begin({ path, body });
		upstream.write(event + event.slice(0, 4));
		expect(bench.gateway.inFlightRequests()).toBe(1);
		bench.gateway.endInFlightRequests();
		expect(reader.text.startsWith(event + broken)).toBe(true);
		expect(reader.text).toContain('"type":"overloaded_error"');
		expect([reader.ending, upstream.isCancelled, response.record?.code, bench.gateway.inFlightRequests()]).toEqual([
			'ended',
			true,
			'draining',
			0,
		]);
	});

	it('ends an unread stream when its client disconnects or the process shuts down', async () => {
		for (const way of ['leave', 'drain'] as const) {
			const bench = new GatewayBench();
			const upstream = new HandStream();
			let disconnect: (() => void) | undefined;
			bench.respond = () => sseResponse(upstream);
			const response = await bench.ask(
				requests.chat.path,
				requests.chat.body,
				{},
				{ onClientDisconnect: (listener) => (disconnect = listener) },
			);
			if (way === 'leave') disconnect?.();
			else bench.gateway.endInFlightRequests();
			expect(upstream.isCancelled).toBe(true);
			const { reader } = readStream(response);
			await settle();
			expect(reader.text.includes('"code":"draining"')).toBe(way === 'drain');
			expect(bench.gateway.inFlightRequests()).toBe(0);
		}
	});

	it('relays a compressed stream untouched, and breaks it where it broke', async () => {
		const { upstream, reader, response, bench } = await begin(requests.chat, {}, { 'content-encoding': 'gzip' });
		upstream.write('\u001f\u008b');
		bench.clock.advance(60_000);
		expect([reader.text.length, response.headers['content-encoding']]).toEqual([3, 'gzip']);
		upstream.sink?.fail(new UpstreamError('provider_disconnected'));
		expect([reader.ending, response.record?.code, bench.gateway.inFlightRequests()]).toEqual(['failed', 'provider_disconnected', 0]);
	});

	it('does not buffer an endless event', async () => {
		const { upstream, reader } = await begin(requests.chat);
		upstream.write(`data: ${'x'.repeat(5_000_000)}`);
		expect(reader.text.length).toBeGreaterThan(5_000_000);
		upstream.sink?.fail(new UpstreamError('provider_disconnected'));
		expect(reader.ending).toBe('failed');
	});

	it('responds to a provider that does not stream with an error', async () => {
		const bench = new GatewayBench();
		for (const [status, type] of [
			[200, 'application/json'],
			[200, 'text/html'],
			[204, 'text/event-stream'],
		] as const) {
			const body = new HandStream();
			bench.respond = () => ({ status, headers: { 'content-type': type }, body });
			const response = await bench.ask(requests.chat.path, requests.chat.body);
			expect([response.status, response.record?.code, body.isCancelled]).toEqual([502, 'provider_response_invalid', true]);
		}
	});

	it('returns errors of a streaming request as JSON bodies', async () => {
		const bench = new GatewayBench();
		bench.respond = () => ({
			status: 429,
			headers: { 'content-type': 'application/json', 'retry-after': '3' },
			body: streamOf([Buffer.from('{"error":{}}')]),
		});
		const response = await bench.ask(requests.messages.path, requests.messages.body);
		expect([response.status, textOf(response), response.headers['retry-after']]).toEqual([429, '{"error":{}}', '3']);
	});
});
