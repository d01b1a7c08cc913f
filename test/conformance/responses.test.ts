/** The Responses API over HTTP, and through the official SDKs: responses, streams, faults, rejected conversations and guardrails. */
import { beforeAll, describe, expect, it, test, vi } from 'vitest';
import { readRecordings, recordedBytes } from '../support/recordings.ts';
import { openAiLines } from '../support/sdk-lines.ts';
import { openOpenAi } from './open-sdk.ts';
import { describeOwn, requestsServed, type Subject, send, useSubject } from './subject.ts';

const path = '/v1/responses';
const model = 'gpt-5-mini-sim-text';
const tool = {
	type: 'function' as const,
	name: 'get_weather',
	parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false },
	strict: true,
};

/** Sends a request. @returns its status and parsed body. */
async function ask(subject: Subject, body: Record<string, unknown>): Promise<{ status: number; json: unknown }> {
	const response = await send(subject, path, { body });
	return { status: response.status, json: await response.json() };
}

describeOwn('Responses', 'our simulator', () => {
	const subject = useSubject();
	// Hides warnings: by date, the SDKs warn of old models.
	beforeAll(() => {
		const silenced = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
		return () => silenced.mockRestore();
	});

	describe.each(openAiLines)('%s', (_line, OpenAI) => {
		it('creates a response, which the provider does not store', async () => {
			const client = await openOpenAi(OpenAI, subject.current);
			const response = await client.responses.create({ model, input: 'Say hello.' });
			expect(response).toMatchObject({ object: 'response', status: 'completed', store: false });
			expect(response.id).toMatch(/^resp_/);
			expect(response.output_text.length).toBeGreaterThan(0);
			const sent = await subject.current.simulator.newestRequest();
			expect(sent.path).toBe('/openai/v1/responses');
		});

		it('streams a response', async () => {
			const client = await openOpenAi(OpenAI, subject.current);
			let text = '';
			for await (const event of await client.responses.create({ model, input: 'Say hello.', stream: true })) {
				if (event.type === 'response.output_text.delta') text += event.delta;
			}
			expect(text.length).toBeGreaterThan(0);
			const response = await client.responses.stream({ model, input: 'Say hello.' }).finalResponse();
			expect([response.status, response.output_text]).toEqual(['completed', text]);
		});

		it('calls a tool and continues with its output', async () => {
			const client = await openOpenAi(OpenAI, subject.current);
			const input = [{ role: 'user' as const, content: 'What is the weather in Paris?' }];
			const first = await client.responses.create({ model, input, tools: [tool], tool_choice: 'required' });
			const call = first.output.find((item) => item.type === 'function_call');
			if (call === undefined) throw new Error('no call');
			const output = { type: 'function_call_output' as const, call_id: call.call_id, output: '21 degrees' };
			const second = await client.responses.create({ model, input: [...input, ...first.output, output] as never, tools: [tool] });
			expect(second.status).toBe('completed');
		});

		it.each(['cut-after-5', 'end-after-5', 'cut-mid-event-5'])('raises an error for a stream with %s', async (fault) => {
			const client = await openOpenAi(OpenAI, subject.current);
			const reading = client.responses.stream({ model: `gpt-5-mini-sim-${fault}`, input: 'Say hello.' }).finalResponse();
			await expect(reading).rejects.toMatchObject({ code: 'provider_disconnected' });
		});

		it('raises the provider’s error in a stream', async () => {
			const client = await openOpenAi(OpenAI, subject.current);
			const reading = client.responses.stream({ model: 'gpt-5-mini-sim-error-mid-stream-5', input: 'Say hello.' }).finalResponse();
			await expect(reading).rejects.toBeInstanceOf(Error);
		});

		it('names the cure for a conversation that is stored', async () => {
			const client = await openOpenAi(OpenAI, subject.current);
			const failure = await client.responses
				.create({ model, input: 'And?', previous_response_id: 'resp_1' })
				.catch((cause: unknown) => cause);
			expect(failure).toBeInstanceOf(OpenAI.BadRequestError);
			expect(failure).toMatchObject({
				status: 400,
				param: 'previous_response_id',
				message: expect.stringContaining('whole conversation') as unknown,
			});
		});

		it.each(readRecordings('responses').map((recording) => [recording.name, recording] as const))('reads %s', async (name, recording) => {
			const { status, headers, json, sse } = recording.response;
			await subject.current.simulator.replay({
				dialect: 'openai',
				status,
				headers,
				body_base64: recordedBytes(recording).toString('base64'),
				split: { bytes: [1, 200], seed: 1 },
			});
			const client = await openOpenAi(OpenAI, subject.current);
			const request = { model, input: 'Say hello.', stream: sse !== undefined };
			if (status !== 200) {
				await expect(client.responses.create(request)).rejects.toMatchObject({ status, message: expect.stringContaining(' ') as unknown });
			} else if (sse === undefined) {
				const { output_text: _added, ...response } = (await client.responses.create(request)) as unknown as Record<string, unknown>;
				expect(response).toEqual(json);
			} else {
				const events: unknown[] = [];
				const read = async (): Promise<void> => {
					for await (const event of (await client.responses.create(request)) as AsyncIterable<unknown>) events.push(event);
				};
				const recorded = [...sse.matchAll(/^data: ?(\{.*)$/gm)].map(([, text = '']) => JSON.parse(text) as unknown);
				if (name.includes('error')) {
					await expect(read()).rejects.toBeInstanceOf(OpenAI.APIError);
					return;
				}
				await read();
				expect(events).toEqual(recorded);
			}
		});
	});

	const user = { role: 'user', content: 'Hi' };
	const call = { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' };
	const output = { type: 'function_call_output', call_id: 'c1', output: 'x' };
	test.each<[string, Record<string, unknown>]>([
		['input', {}],
		['input', { input: [] }],
		['input', { input: {} }],
		['input', { input: Array.from({ length: 100_000 }, () => user) }],
		['input[0].type', { input: [{ type: 'brand_new' }] }],
		['input[0].call_id', { input: [call, user] }],
		['input[1].call_id', { input: [user, output] }],
		['input[1].call_id', { input: [call, call, output] }],
		[
			'input[0].content[0].image_url',
			{ input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'data:image/png;base64,*' }] }] },
		],
		['tools', { input: 'Hi', tools: {} }],
		['conversation', { input: 'Hi', conversation: 'conv_1' }],
		['background', { input: 'Hi', background: true }],
		['input[1]', { input: [user, { id: 'rs_1' }] }],
	])('a request is rejected with `%s`, and no provider receives it', async (param, members) => {
		const before = await requestsServed(subject.current);
		const response = await ask(subject.current, { model, ...members });
		expect([response.status, response.json]).toMatchObject([400, { type: 'error', error: { param } }]);
		expect(await requestsServed(subject.current)).toBe(before);
	});

	test('a model of a provider without the API gets a translated request', async () => {
		const response = await ask(subject.current, { model: 'claude-opus-5', input: 'Hi' });
		expect([response.status, response.json]).toMatchObject([200, { object: 'response', status: 'completed', store: false }]);
	});

	test('an unknown model is a client error of the provider', async () => {
		const response = await ask(subject.current, { model: 'provider_b/no-such-model', input: 'Hi' });
		expect([response.status, response.json]).toMatchObject([400, { error: { code: 'model_not_found' } }]);
	});

	test('Azure receives the deployment in the body', async () => {
		const response = await ask(subject.current, { model: 'team-deployment', input: 'Say hello.' });
		expect(response.status).toBe(200);
		expect((await subject.current.simulator.newestRequest()).path).toBe('/azure/openai/v1/responses');
	});
});

describeOwn('Responses under guardrails', 'a configuration of its own', () => {
	const subject = useSubject({ enable_guardrails: true, enforce_guardrails: true, guardrails: { words: ['darkfish'] } });

	test('a blocked word in a request', async () => {
		const response = await ask(subject.current, { model, input: [{ type: 'message', role: 'user', content: 'A d4rkfish?' }] });
		expect([response.status, response.json]).toMatchObject([400, { error: { code: 'guardrail_blocked' } }]);
	});

	test.each(openAiLines)('a blocked word in a stream, with %s', async (_line, OpenAI) => {
		const recording = readRecordings('responses').find(({ name }) => name === 'responses/text-stream.json');
		const sse = recording?.response.sse?.replaceAll('"delta":" equals"', '"delta":" darkfish"') ?? '';
		expect(sse).toContain('darkfish');
		await subject.current.simulator.replay({ dialect: 'openai', headers: recording?.response.headers ?? {}, sse });
		const client = await openOpenAi(OpenAI, subject.current);
		const reading = client.responses.stream({ model, input: 'What is 2+2?' }).finalResponse();
		await expect(reading).rejects.toMatchObject({ code: 'guardrail_blocked' });
	});
});
