/** Clients with the official OpenAI SDKs, both major versions, served by recorded responses and by a provider that enforces its rules. */

import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { translateBytes } from '../../../../test/support/byte-translation.ts';
import { unknownWireFields } from '../../../../test/support/messages-wire-fields.ts';
import { readRecordings, recordedBytes } from '../../../../test/support/recordings.ts';
import { openAiLines } from '../../../../test/support/sdk-lines.ts';
import { type StartedSimulator, startSimulator } from '../../../../test/support/start-simulator.ts';
import { chatToMessages } from '../../../../test/support/translations.ts';
import { Rejection } from '../../../core/rejection.ts';
import type { ResponseContext } from '../../conversation/response.ts';
import type { StreamTranslation } from '../../conversation/translation.ts';
import { EventFramer } from '../../events/event-framer.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { translateRequest } from '../../translate.ts';
import { messages as messagesFormat } from './messages.ts';

type Fetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;

const callOf = (request: JsonObject): ResponseContext => ({
	request,
	model: String(request.model),
	requestId: 'req_1',
	nowSeconds: 1_790_000_000,
});
const json = (status: number, body: unknown): Response => Response.json(body, { status });
const eventStream = (body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>): Response =>
	new Response(body, { headers: { 'content-type': 'text/event-stream' } });

/** Uses the framing of the gateway: complete events only, however the bytes arrive. */
async function* translated(body: AsyncIterable<Uint8Array>, stream: StreamTranslation): AsyncGenerator<Uint8Array> {
	const framer = new EventFramer(messagesFormat.markLine);
	for await (const chunk of body) {
		const events = framer.push(Buffer.from(chunk));
		if (events !== undefined) yield stream.push(events).bytes;
	}
	yield stream.end().bytes;
}

/** A minimal gateway. */
function gatewayTo(origin: string): Fetch {
	return async (_url, init) => {
		const request = JSON.parse(init?.body as string) as JsonObject;
		const call = callOf(request);
		let body: JsonObject;
		try {
			({ body } = translateRequest('chat', 'messages', request, { model: String(request.model), maxOutputTokens: 32_000 }));
		} catch (cause) {
			if (!(cause instanceof Rejection)) throw cause;
			return json(400, { error: { message: cause.message, type: 'invalid_request_error', code: cause.code, param: cause.param } });
		}
		expect(unknownWireFields(body)).toEqual([]);
		const response = await fetch(`${origin}/anthropic/v1/messages`, {
			method: 'POST',
			headers: { 'x-api-key': 'sk-ant-1111', 'anthropic-version': '2023-06-01', 'content-type': 'application/json' },
			body: JSON.stringify(body),
		});
		if (!response.ok) {
			const error = chatToMessages.translateError(response.status, (await response.json()) as JsonObject, call);
			return json(shown(response.status), error.body);
		}
		if (body.stream !== true) return json(200, chatToMessages.translateResponse((await response.json()) as JsonObject, call));
		return eventStream(
			ReadableStream.from(translated(response.body as unknown as AsyncIterable<Uint8Array>, chatToMessages.translateStream(call))),
		);
	};
}

/** Status as the gateway returns it. */
const shown = (status: number): number => (status >= 500 || status === 401 || status === 404 ? 502 : status);

const recordings = readRecordings('anthropic');
const weather = {
	type: 'function' as const,
	function: { name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
};

let simulator: StartedSimulator;
beforeAll(async () => {
	simulator = await startSimulator();
});
afterAll(() => simulator.close());

describe.each(openAiLines)('%s', (_name, Client) => {
	const clientOf = (fetch: Fetch): OpenAI => new Client({ apiKey: 'key', baseURL: 'http://gateway.test/v1', maxRetries: 0, fetch });
	const ask = { model: 'alias', messages: [{ role: 'user' as const, content: 'Hi' }] };

	test.each(recordings.filter(({ response }) => response.sse === undefined))('reads $name', async ({ response }) => {
		const recorded = response.json as { readonly content: readonly JsonObject[]; readonly usage: Record<string, number> };
		const client = clientOf(async () => json(200, chatToMessages.translateResponse(response.json as JsonObject, callOf(ask))));
		const { choices, usage } = await client.chat.completions.create(ask);
		const texts = recorded.content.flatMap(({ type, text }) => (type === 'text' ? [text] : []));
		expect(choices[0]?.message.content ?? '').toBe(texts.join(''));
		const calls = choices[0]?.message.tool_calls?.map((call): unknown => call.type === 'function' && JSON.parse(call.function.arguments));
		expect(calls ?? []).toEqual(recorded.content.flatMap(({ type, input }) => (type === 'tool_use' ? [input] : [])));
		const { input_tokens = 0, cache_creation_input_tokens = 0, cache_read_input_tokens = 0, output_tokens } = recorded.usage;
		expect(usage?.prompt_tokens).toBe(input_tokens + cache_creation_input_tokens + cache_read_input_tokens);
		expect(usage?.completion_tokens).toBe(output_tokens);
	});

	test.each(recordings.filter(({ response }) => response.sse !== undefined))('streams $name', async (recording) => {
		const request = { ...ask, stream_options: { include_usage: true } };
		const client = clientOf(async () =>
			eventStream(new Uint8Array(translateBytes(chatToMessages, callOf(request)).push(recordedBytes(recording)))),
		);
		const events = recordedBytes(recording).toString();
		const texts = [...events.matchAll(/"text":("(?:[^"\\]|\\.)*")[^{]*"text_delta"|"text_delta","text":("(?:[^"\\]|\\.)*")/g)].map(
			([, first, second]) => JSON.parse(first ?? second ?? '') as string,
		);
		const isModelRefusal = events.includes('"stop_reason":"refusal"');

		let streamed = '';
		let reason: string | undefined;
		for await (const chunk of await client.chat.completions.create({ ...request, stream: true })) {
			streamed += chunk.choices[0]?.delta.content ?? '';
			reason = chunk.choices[0]?.finish_reason ?? reason;
		}
		expect(streamed).toBe(texts.join(''));
		const reasons = { refusal: 'content_filter', tool_use: 'tool_calls', end_turn: 'stop' };
		expect(reason).toBe(reasons[/"stop_reason":"(refusal|tool_use|end_turn)"/.exec(events)?.[1] as keyof typeof reasons]);

		const helper = client.chat.completions.stream(request);
		const final = await helper.finalChatCompletion();
		expect(final.choices[0]?.message.content ?? '').toBe(texts.join(''));
		expect(final.choices[0]?.message.refusal ?? '').toMatch(isModelRefusal ? /restrictions/ : /^$/);
		for (const call of final.choices[0]?.message.tool_calls ?? []) {
			expect(JSON.parse(call.type === 'function' ? call.function.arguments : '')).toBeTypeOf('object');
		}
		expect((await helper.totalUsage()).completion_tokens).toBeGreaterThan(0);
	});

	describe('with a provider that enforces its rules', () => {
		const client = (): OpenAI => clientOf(gatewayTo(simulator.origin));
		const models = ['claude-sonnet-4-5', 'claude-opus-4-6', 'claude-opus-4-8', 'claude-sonnet-5', 'claude-3-5-haiku-latest'];

		test.each(models)('%s: two calls at once, their results in the other order, a response; complete and streaming', async (model) => {
			const question: OpenAI.ChatCompletionMessageParam[] = [
				{ role: 'system', content: 'Be brief.' },
				{ role: 'user', content: 'The weather in San Francisco and Boston?' },
			];
			const base = { model, tools: [weather], temperature: 0.3, reasoning_effort: 'low' as const, user: 'u-1' };
			const whole = await client().chat.completions.create({ ...base, messages: question });
			const streamed = await client()
				.chat.completions.stream({ ...base, messages: question })
				.finalChatCompletion();
			expect(streamed.choices[0]?.message.tool_calls?.map((call) => call.type === 'function' && call.function.arguments)).toEqual(
				whole.choices[0]?.message.tool_calls?.map((call) => call.type === 'function' && call.function.arguments),
			);
			expect(streamed.choices[0]?.message.content).toBe(whole.choices[0]?.message.content);
			for (const { choices } of [whole, streamed]) {
				const message = choices[0]?.message;
				expect(choices[0]?.finish_reason).toBe('tool_calls');
				expect(message?.tool_calls).toHaveLength(2);
				const results = (message?.tool_calls ?? [])
					.map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: 'rain' }))
					.toReversed();
				// The message as an SDK returns it, with thinking blocks; then with only the fields that a client may know.
				for (const retained of [message, { role: 'assistant', content: message?.content, tool_calls: message?.tool_calls }]) {
					const messages = [
						...question,
						retained as OpenAI.ChatCompletionMessageParam,
						...results,
						{ role: 'user' as const, content: 'Sum up.' },
					];
					const response = await client().chat.completions.create({ ...base, messages });
					expect(response.choices[0]?.message.content).toContain('rain');
					expect(response.choices[0]?.finish_reason).toBe('stop');
				}
			}
		});

		test('the stream equals the non-streaming response, thinking and usage included', async () => {
			const request = { model: 'claude-opus-4-8', messages: ask.messages, reasoning_effort: 'high' as const };
			const whole = await client().chat.completions.create(request);
			const stream = client().chat.completions.stream({ ...request, stream_options: { include_usage: true } });
			const final = await stream.finalChatCompletion();
			// Each is signed separately.
			const { reasoning_content: thinking } = (whole.choices[0]?.message ?? {}) as JsonObject;
			for (const { choices } of [whole, final]) {
				const signature = expect.stringMatching(/.{40}/) as unknown;
				expect(choices[0]?.message).toMatchObject({ thinking_blocks: [{ type: 'thinking', thinking, signature }] });
			}
			expect(final.choices[0]?.message.content).toBe(whole.choices[0]?.message.content);
			expect(final.usage).toEqual(whole.usage);
			expect((await stream.totalUsage()).total_tokens).toBe(whole.usage?.total_tokens);
			expect(whole.usage?.completion_tokens_details?.reasoning_tokens).toBeGreaterThan(0);
		});

		test('a schema, stop sequences, a cap', async () => {
			const schema = { type: 'object', properties: { joke: { type: 'string' } }, required: ['joke'] };
			const format = { type: 'json_schema' as const, json_schema: { name: 'joke', schema } };
			const shaped = await client().chat.completions.create({ ...ask, model: 'claude-opus-5', response_format: format });
			expect(JSON.parse(shaped.choices[0]?.message.content ?? '')).toEqual({ joke: expect.any(String) as unknown });
			const cut = await client().chat.completions.create({ ...ask, model: 'claude-opus-5', max_completion_tokens: 2 });
			expect(cut.choices[0]?.finish_reason).toBe('length');
			expect(cut.usage?.completion_tokens).toBe(2);
		});

		test.each([
			['claude-opus-5-sim-429', 'RateLimitError', 429],
			['claude-opus-5-sim-529', 'InternalServerError', 502],
			['claude-opus-5-sim-500', 'InternalServerError', 502],
			['claude-nonsense-1-x', 'InternalServerError', 502],
		] as const)("errors raise the SDK's own classes: %s", async (model, name, status) => {
			const attempt = client().chat.completions.create({ ...ask, model });
			await expect(attempt).rejects.toBeInstanceOf(Client[name]);
			await expect(attempt).rejects.toMatchObject({
				status,
				code: expect.any(String) as unknown,
				message: expect.stringMatching(/\w{4}/) as unknown,
			});
		});

		test.each([
			['error-mid-stream-4', 'Overloaded'],
			['end-after-4', ''],
			['cut-mid-event-4', ''],
			['malformed-json', ''],
			['duplicate-message-start', ''],
		])('a stream that breaks raises: %s', async (fault, message) => {
			const stream = client().chat.completions.stream({ ...ask, model: `claude-opus-5-sim-${fault}` });
			await expect(stream.finalChatCompletion()).rejects.toThrow(message);
		});

		test('a request that the model rejects has a `refusal`', async () => {
			const whole = await client().chat.completions.create({ ...ask, model: 'claude-opus-5-sim-refusal' });
			const streamed = await client()
				.chat.completions.stream({ ...ask, model: 'claude-opus-5-sim-refusal' })
				.finalChatCompletion();
			for (const { choices } of [whole, streamed]) {
				expect(choices[0]).toMatchObject({ finish_reason: 'content_filter', message: { refusal: expect.stringMatching(/\w/) as unknown } });
			}
		});
	});
});
