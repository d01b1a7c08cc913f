/** Limits at `/v1/responses`: codes by which clients stop or wait, and the ends of streams. */
import type OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import {
	GatewayBench,
	HandStream,
	jsonResponse,
	Reader,
	readStream,
	sentText,
	settle,
	sseResponse,
	testSettings,
	textOf,
} from '../../../test/support/gateway-bench.ts';
import { openAiLines } from '../../../test/support/sdk-lines.ts';
import { isByteStream } from '../../core/byte-stream.ts';
import type { HttpResponse } from '../../core/handler.ts';
import { UpstreamError } from '../../core/upstream-error.ts';
import type { JsonObject } from '../../wire/json/parse-body.ts';
import type { GatewaySettings } from './gateway-settings.ts';

const path = '/v1/responses';
const body = '{"model":"gpt-4o","input":"Hi"}';
const unlimited = { requestsPerMinute: null, dailyTokens: null, monthlyBudgetUsd: null };

function benchWith(limits: Partial<typeof unlimited> | JsonObject, budgets: Partial<GatewaySettings['budgets']> = {}): GatewayBench {
	const tiers = { sandbox: unlimited, standard: { ...unlimited, ...limits } };
	return new GatewayBench({ tiers, budgets: { ...testSettings.budgets, ...budgets } });
}

/** Usage of a million output tokens. */
const large = '{"output":[],"usage":{"input_tokens":1,"output_tokens":1000000}}';

interface RejectionBody {
	readonly error: JsonObject;
	readonly [member: string]: unknown;
}

async function rejected(bench: GatewayBench, requestBody = body): Promise<{ response: HttpResponse; body: RejectionBody }> {
	bench.respond = () => jsonResponse(200, large);
	await bench.ask(path, requestBody);
	await bench.gateway.settled();
	const response = await bench.ask(path, requestBody, {}, { id: 'req-2' });
	return { response, body: JSON.parse(textOf(response)) as RejectionBody };
}

describe('a rejection has OpenAI’s code', () => {
	test('of an exceeded quota for a budget', async () => {
		const { response, body: rejection } = await rejected(benchWith({ monthlyBudgetUsd: '1' }));
		expect([response.status, response.headers['retry-after'], response.headers['x-should-retry']]).toEqual([429, undefined, 'false']);
		expect(rejection.error).toMatchObject({ code: 'insufficient_quota', gateway_code: 'budget_exceeded' });
		expect(rejection).toMatchObject({ type: 'error', action: 'reject', request_id: 'req-2' });
		expect(response.record?.code).toBe('budget_exceeded');
	});

	test('of an exceeded quota for daily tokens, with a short interval', async () => {
		const { response, body: rejection } = await rejected(benchWith({ dailyTokens: 100 }));
		expect([response.status, response.headers['retry-after'], response.headers['x-should-retry']]).toEqual([429, '60', 'false']);
		expect(rejection.error).toMatchObject({ code: 'insufficient_quota', gateway_code: 'daily_token_limit_exceeded' });
		expect(rejection).toMatchObject({ allowed: false });
	});

	test('of a rate limit for requests per minute', async () => {
		const { response, body: rejection } = await rejected(benchWith({ requestsPerMinute: 1 }));
		expect(Number(response.headers['retry-after'])).toBeLessThanOrEqual(60);
		expect(rejection.error).toMatchObject({ code: 'rate_limit_exceeded', gateway_code: 'rpm_limit_exceeded' });
	});

	test('of a rate limit for a reserved budget', async () => {
		const bench = benchWith({ monthlyBudgetUsd: '0.02' }, { reservation: 'worst_case' });
		bench.respond = () => new Promise(() => undefined);
		const capped = '{"model":"gpt-4o","max_output_tokens":1500,"input":"Hi"}';
		bench.ask(path, capped).catch(() => undefined);
		await settle();
		const response = await bench.ask(path, capped, {}, { id: 'req-2' });
		const { error } = JSON.parse(textOf(response)) as RejectionBody;
		expect([response.status, error['code'], error['gateway_code']]).toEqual([429, 'rate_limit_exceeded', 'budget_reserved']);
		expect(Number(response.headers['retry-after'])).toBeLessThanOrEqual(60);
	});

	test('only at this endpoint', async () => {
		const bench = benchWith({ requestsPerMinute: 1 });
		await bench.ask(path, body);
		const response = await bench.ask(
			'/v1/chat/completions',
			'{"model":"gpt-4o","messages":[{"role":"user","content":"Hi"}]}',
			{},
			{ id: 'req-2' },
		);
		expect((JSON.parse(textOf(response)) as RejectionBody).error).not.toHaveProperty('gateway_code');
	});
});

test('a budget caps the output, and nothing else changes but `store`', async () => {
	const bench = benchWith({ monthlyBudgetUsd: '1' }, { reservation: 'worst_case' });
	await bench.ask(path, '{"model":"gpt-4o","input":"Hi","store":true}');
	const [sent] = bench.sent;
	expect(sent && sentText(sent)).toMatch(/^\{"model":"gpt-4o","input":"Hi","store":false,"max_output_tokens":\d+\}$/);
});

test('an option above the list price is rejected in the worst case', async () => {
	const bench = benchWith({ monthlyBudgetUsd: '1' }, { reservation: 'worst_case' });
	const response = await bench.ask(path, '{"model":"gpt-4o","input":"Hi","service_tier":"priority"}');
	expect([response.status, (JSON.parse(textOf(response)) as RejectionBody).error['param']]).toEqual([400, 'service_tier']);
});

test('a model’s rejected parameters are dropped', async () => {
	const bench = new GatewayBench({ repairsParameters: true });
	const response = await bench.ask(path, '{"model":"gpt-5","input":"Hi","temperature":0.5}');
	const [sent] = bench.sent;
	expect(sent && sentText(sent)).toBe('{"model":"gpt-5","input":"Hi","store":false}');
	expect(response.headers['x-gateway-warnings']).toContain('temperature');
});

const created = { type: 'response.created', response: { id: 'resp_1', created_at: 7, model: 'gpt-4o', status: 'in_progress', output: [] } };
const place = { item_id: 'msg_1', output_index: 0 };
const begin = [
	created,
	{ ...created, type: 'response.in_progress' },
	{
		type: 'response.output_item.added',
		output_index: 0,
		item: { type: 'message', id: 'msg_1', role: 'assistant', status: 'in_progress', content: [] },
	},
	{ type: 'response.content_part.added', ...place, content_index: 0, part: { type: 'output_text', text: '', annotations: [] } },
];
const delta = { type: 'response.output_text.delta', ...place, content_index: 0, delta: 'word ', logprobs: [] };

function eventOf(event: JsonObject, sequence_number: number): string {
	return `event: ${String(event['type'])}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`;
}

/** SDK of the client, whose requests the bench serves. */
function clientOf<Client>(Sdk: new (options: ConstructorParameters<typeof OpenAI>[0]) => Client, bench: GatewayBench): Client {
	const fetch = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
		const response = await bench.ask(
			new URL(url instanceof Request ? url.url : url).pathname,
			typeof init?.body === 'string' ? init.body : '',
		);
		const headers = Object.entries(response.headers).flatMap(([name, value]) =>
			value === undefined ? [] : [[name, String(value)] as [string, string]],
		);
		if (response.body === null || !isByteStream(response.body)) return new Response(textOf(response), { status: response.status, headers });
		const stream = response.body;
		let isCancelled = false;
		const text = new ReadableStream<Uint8Array>({
			cancel: () => {
				isCancelled = true;
			},
			start(controller) {
				stream.start({
					write: (chunk) => {
						if (!isCancelled) controller.enqueue(new Uint8Array(chunk));
						return true;
					},
					end: () => {
						if (!isCancelled) controller.close();
					},
					fail: (cause) => {
						controller.error(cause);
					},
				});
			},
		});
		return new Response(text, { status: response.status, headers });
	};
	return new Sdk({ apiKey: 'good', baseURL: 'http://gateway.test/v1', maxRetries: 0, fetch });
}

/** Waits until the gateway reads the provider's stream. */
async function untilRead(upstream: HandStream): Promise<void> {
	while (upstream.sink === undefined) await settle();
}

/** Writes deltas until the gateway ends the stream. */
async function writeUntilStopped(bench: GatewayBench, upstream: HandStream): Promise<number> {
	let sequence = 0;
	for (const event of begin) upstream.write(eventOf(event, sequence++));
	for (; sequence < 20_000 && !upstream.isCancelled; sequence++) {
		upstream.write(eventOf(delta, sequence));
		await settle();
		bench.clock.advance(10);
	}
	return sequence;
}

describe.each(openAiLines)('a stream that a budget stops, with the SDK %s', (_release, Sdk) => {
	test.each(['raw', 'helper'])('is an error: %s', async (kind) => {
		const bench = benchWith({ monthlyBudgetUsd: '0.03' }, { onStreamOver: 'stop', stoppedStream: 'error' });
		const upstream = new HandStream();
		bench.respond = () => sseResponse(upstream);
		const client = clientOf(Sdk, bench);
		const request = { model: 'gpt-4o', input: 'Hi' };
		const read = async (): Promise<unknown> => {
			if (kind === 'helper') return client.responses.stream(request).finalResponse();
			for await (const event of await client.responses.create({ ...request, stream: true })) {
				if (event.type === 'response.failed') return event;
			}
			return undefined;
		};
		const reading = read().catch((cause: unknown) => cause);
		await untilRead(upstream);
		await writeUntilStopped(bench, upstream);
		expect(await reading).toMatchObject({ message: expect.stringContaining('budget') as unknown });
	});

	test('reaches its output cap, if configured', async () => {
		const bench = benchWith({ monthlyBudgetUsd: '0.03' }, { onStreamOver: 'stop', stoppedStream: 'length' });
		const upstream = new HandStream();
		bench.respond = () => sseResponse(upstream);
		const reading = clientOf(Sdk, bench).responses.stream({ model: 'gpt-4o', input: 'Hi' }).finalResponse();
		await untilRead(upstream);
		const sequence = await writeUntilStopped(bench, upstream);
		const response = await reading;
		expect([response.id, response.status, response.incomplete_details?.reason]).toEqual(['resp_1', 'incomplete', 'max_output_tokens']);
		expect(response.output_text).toBe('word '.repeat(response.output_text.length / 5));
		expect(response.output_text.length / 5).toBeGreaterThan(sequence / 2);
		await bench.gateway.settled();
		const [entry] = (await bench.ledger.list({ limit: 1 })).rows;
		expect(response.usage?.output_tokens).toBe(entry?.closed?.usage.outputTokens);
	});

	test('cut by the provider, is an error', async () => {
		const bench = new GatewayBench();
		const upstream = new HandStream();
		bench.respond = () => sseResponse(upstream);
		const reading = clientOf(Sdk, bench)
			.responses.stream({ model: 'gpt-4o', input: 'Hi' })
			.finalResponse()
			.catch((cause: unknown) => cause);
		await untilRead(upstream);
		for (const [sequence, event] of [...begin, delta].entries()) upstream.write(eventOf(event, sequence));
		upstream.sink?.end();
		expect(await reading).toMatchObject({ code: 'provider_disconnected' });
		await bench.gateway.settled();
		const [entry] = (await bench.ledger.list({ limit: 1 })).rows;
		expect(entry?.closed).toMatchObject({ outcome: 'broken', isEstimated: true });
	});
});

test('an error event continues the numbers of the stream, and repeats the identity of its response', async () => {
	const bench = new GatewayBench();
	const upstream = new HandStream();
	bench.respond = () => sseResponse(upstream);
	const response = await bench.ask(path, body.replace('{', '{"stream":true,'));
	const { reader } = readStream(response);
	for (const [sequence, event] of [...begin, delta].entries()) upstream.write(eventOf(event, sequence));
	upstream.sink?.fail(new UpstreamError('provider_disconnected'));
	const events = [...reader.text.matchAll(/^data: (.*)$/gm)].map(([, json = '']) => JSON.parse(json) as JsonObject);
	expect(events.map(({ sequence_number }) => sequence_number)).toEqual([0, 1, 2, 3, 4, 5, 6]);
	expect(events.slice(-2)).toMatchObject([
		{ type: 'error', code: 'provider_disconnected' },
		{
			type: 'response.failed',
			response: { id: 'resp_1', created_at: 7, model: 'gpt-4o', status: 'failed', error: { code: 'provider_disconnected' } },
		},
	]);
	expect(reader).toBeInstanceOf(Reader);
});
