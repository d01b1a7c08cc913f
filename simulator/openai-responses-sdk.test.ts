/** Proves that the Responses API of the simulator works with both release lines of the official OpenAI SDK as the vendor's does. */
import type OpenAI from 'openai';
import type {
	ResponseCreateParamsNonStreaming,
	ResponseInputItem,
	ResponseOutputItem,
	ResponseStreamEvent,
} from 'openai/resources/responses/responses';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openAiLines } from '../test/support/sdk-lines.ts';
import { type StartedSimulator, startSimulator } from '../test/support/start-simulator.ts';

let simulator: StartedSimulator;
beforeAll(async () => {
	simulator = await startSimulator();
});
afterAll(() => simulator.close());

const weather = {
	type: 'function' as const,
	name: 'get_weather',
	strict: null,
	parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

/** Request whose fields differ from the SDK's types on purpose. */
const request = (fields: object): ResponseCreateParamsNonStreaming => ({ model: 'gpt-4o', input: 'Hello harbor', ...fields });

const typesOf = (items: readonly { type: string }[]): string[] => items.map(({ type }) => type);

function findItem<T extends ResponseOutputItem['type']>(
	output: readonly ResponseOutputItem[],
	type: T,
): Extract<ResponseOutputItem, { type: T }> {
	const found = output.find((item) => item.type === type);
	if (found === undefined) throw new Error(`No ${type} in ${typesOf(output).join()}`);
	return found as Extract<ResponseOutputItem, { type: T }>;
}

describe.each(openAiLines)('%s', (_name, Client, AzureClient) => {
	const clientOf = (apiKey = 'sk-test-1111'): OpenAI => new Client({ apiKey, baseURL: `${simulator.origin}/openai/v1`, maxRetries: 0 });
	const responses = (): OpenAI['responses'] => clientOf().responses;

	test('text, with usage and the echo of the request', async () => {
		const response = await responses().create(request({ instructions: 'Be brief.', tools: [weather], metadata: { a: 'b' } }));
		expect(response.output_text).toContain('Hello harbor');
		expect(response).toMatchObject({
			object: 'response',
			status: 'completed',
			instructions: 'Be brief.',
			metadata: { a: 'b' },
			store: true,
			tools: [{ type: 'function', name: 'get_weather', strict: true, parameters: { additionalProperties: false } }],
			usage: { input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } },
		});
		expect(response.usage?.output_tokens).toBe(Math.ceil(response.output_text.length / 4));
	});

	test('the stream helper builds the same response, with gapless sequence numbers', async () => {
		const whole = await responses().create(request({ model: 'gpt-5', reasoning: { effort: 'low', summary: 'auto' }, tools: [weather] }));
		const events: ResponseStreamEvent[] = [];
		const stream = responses().stream(
			request({ model: 'gpt-5', reasoning: { effort: 'low', summary: 'auto' }, tools: [weather] }) as never,
		);
		stream.on('event', (event) => void events.push(event));
		const final = await stream.finalResponse();
		expect(final.output_text).toBe(whole.output_text);
		expect(typesOf(final.output)).toEqual(['reasoning', 'message']);
		expect(findItem(final.output, 'reasoning').summary).toEqual(findItem(whole.output, 'reasoning').summary);
		expect(final.usage).toEqual(whole.usage);
		expect(events.map((event) => event.sequence_number)).toEqual(events.map((_event, index) => index));
	});

	test('tools: parallel calls, their outputs, a response', async () => {
		const input = 'What is the weather in San Francisco and Boston?';
		const first = await responses().create(request({ input, tools: [weather] }));
		const calls = first.output.filter((item) => item.type === 'function_call');
		expect(calls.map((call) => call.arguments)).toEqual(['{"city":"San Francisco"}', '{"city":"Boston"}']);
		const outputs = calls.map(({ call_id }, index) => ({ type: 'function_call_output', call_id, output: `${index + 3} degrees` }));
		const second = await responses().create(
			request({ input: [{ role: 'user', content: input }, ...first.output, ...outputs], tools: [weather] }),
		);
		expect(second.output_text).toContain('3 degrees');
		expect(second.output_text).toContain('4 degrees');
		const third = await responses().create(request({ input: outputs, previous_response_id: first.id, tools: [weather] }));
		expect(third.output_text).toBe(second.output_text);
		expect(third.usage?.input_tokens).toBe(second.usage?.input_tokens);
		const streamed = await responses()
			.stream(request({ input, tools: [weather] }) as never)
			.finalResponse();
		expect(typesOf(streamed.output)).toEqual(['function_call', 'function_call']);
	});

	test('encrypted reasoning comes back, and only to where it came from', async () => {
		const fields = { model: 'gpt-5', store: false, include: ['reasoning.encrypted_content'], tools: [weather] };
		const first = await responses()
			.stream(request({ ...fields, input: 'The weather in Oslo?' }) as never)
			.finalResponse();
		const call = findItem(first.output, 'function_call');
		const output = { type: 'function_call_output', call_id: call.call_id, output: '3 degrees' };
		const input = [{ role: 'user', content: 'The weather in Oslo?' }, ...first.output, output];
		const second = await responses().create(request({ ...fields, input }));
		expect(second.output_text).toContain('3 degrees');
		expect((await simulator.requests('?limit=1'))[0]).toMatchObject({ returned_reasoning: 1 });
		const foreign = clientOf('sk-other-2222').responses.create(request({ ...fields, input }));
		await expect(foreign).rejects.toMatchObject({ status: 400, code: 'invalid_encrypted_content' });
		const stripped = input.map((item) => ('encrypted_content' in item ? { ...item, encrypted_content: undefined } : item));
		await expect(responses().create(request({ ...fields, input: stripped }))).rejects.toThrow(/Items are not persisted/);
		const alone = responses().create(request({ ...fields, input: [input[0], input[1]] }));
		await expect(alone).rejects.toThrow(/without its required following item/);
	});

	test('custom tools, namespaces, additional tools and tool search', async () => {
		const custom = { type: 'custom', name: 'apply_patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' } };
		const patched = await responses().create(request({ input: 'use the apply_patch tool', tools: [custom] }));
		expect(findItem(patched.output, 'custom_tool_call')).toMatchObject({ name: 'apply_patch', input: 'use the apply_patch tool' });
		const namespace = { type: 'namespace', name: 'functions', description: 'Tools', tools: [custom, { ...weather, name: 'exec_command' }] };
		const input = [
			{ type: 'additional_tools', role: 'developer', tools: [namespace] },
			{ role: 'user', content: 'use the exec_command tool' },
		];
		const called = await responses().create(request({ input }));
		expect(findItem(called.output, 'function_call')).toMatchObject({ name: 'exec_command', namespace: 'functions' });
		const deferred = { ...weather, defer_loading: true };
		const loaded = await responses()
			.stream(request({ input: 'The weather in Oslo?', tools: [deferred, { type: 'tool_search' }] }) as never)
			.finalResponse();
		expect(typesOf(loaded.output)).toEqual(['tool_search_call', 'tool_search_output', 'function_call']);
		expect(findItem(loaded.output, 'function_call')).toMatchObject({ name: 'get_weather', namespace: 'get_weather' });
		const search = { type: 'tool_search', execution: 'client', parameters: { type: 'object', properties: { goal: { type: 'string' } } } };
		const question = { role: 'user', content: 'use the tool_search tool for the weather' };
		const searched = await responses().create(request({ input: [question], tools: [search] }));
		const searchCall = findItem(searched.output, 'tool_search_call');
		expect(searchCall).toMatchObject({ execution: 'client', arguments: { goal: expect.any(String) as unknown } });
		const found = { type: 'tool_search_output', call_id: searchCall.call_id, execution: 'client', status: 'completed', tools: [weather] };
		const after = await responses().create(request({ input: [question, searchCall, found], tools: [search] }));
		expect(findItem(after.output, 'function_call').name).toBe('get_weather');
	});

	test('web search runs at the vendor, and is billed for each search', async () => {
		const fields = {
			model: 'gpt-5',
			input: 'use the web_search tool',
			tools: [{ type: 'web_search' }],
			include: ['web_search_call.action.sources'],
		};
		const before = (await simulator.bill()).total.web_search_calls;
		const whole = await responses().create(request(fields));
		expect(typesOf(whole.output)).toEqual(['reasoning', 'web_search_call', 'message']);
		expect(whole).toMatchObject({ tool_usage: { web_search: { num_requests: 1 } } });
		expect(findItem(whole.output, 'message').content).toMatchObject([{ annotations: [{ type: 'url_citation' }] }]);
		const streamed = await responses()
			.stream(request(fields) as never)
			.finalResponse();
		expect(typesOf(streamed.output)).toEqual(['reasoning', 'web_search_call', 'message']);
		expect((await simulator.bill()).total.web_search_calls).toBe(before + 2);
		expect(typesOf((await responses().create(request({ ...fields, input: 'Hello' }))).output)).not.toContain('web_search_call');
	});

	test('json schema', async () => {
		const properties = { city: { type: 'string' }, days: { type: 'integer' } };
		const schema = { type: 'object', properties, required: ['city', 'days'], additionalProperties: false };
		const text = { format: { type: 'json_schema', name: 'trip', strict: true, schema } };
		const parsed = await responses().parse(request({ text }));
		expect(parsed.output_parsed).toEqual({ city: expect.any(String) as unknown, days: expect.any(Number) as unknown });
	});

	test('`refusal`, length, content filter and failure, streaming or not', async () => {
		const outcomes = [
			['gpt-4o-sim-refusal', { status: 'completed', output: [{ content: [{ type: 'refusal' }] }] }],
			['gpt-4o-sim-content-filter', { status: 'incomplete', incomplete_details: { reason: 'content_filter' } }],
			['gpt-4o-sim-failed', { status: 'failed', error: { code: 'server_error' }, usage: null }],
			[
				'gpt-4o-sim-tokens-400',
				{ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, usage: { output_tokens: 20 } },
			],
		] as const;
		for (const [model, outcome] of outcomes) {
			const fields = request({ model, max_output_tokens: 20 });
			expect(await responses().create(fields)).toMatchObject(outcome);
			expect(
				await responses()
					.stream(fields as never)
					.finalResponse(),
			).toMatchObject(outcome);
		}
	});

	test('stored responses: read, list, refer to, delete', async () => {
		const first = await responses().create(request({ input: [{ role: 'user', content: 'Hello harbor' }] }));
		expect(await responses().retrieve(first.id)).toMatchObject({ id: first.id, output: first.output });
		const second = await responses().create(request({ input: 'And now?', previous_response_id: first.id }));
		const items = await responses().inputItems.list(second.id, { order: 'asc' });
		expect(typesOf(items.data)).toEqual(['message', 'message', 'message']);
		expect(items.data[2]).toMatchObject({ role: 'user', content: [{ type: 'input_text', text: 'And now?' }] });
		const { id } = findItem(first.output, 'message');
		const reference = { type: 'item_reference', id } as unknown as ResponseInputItem;
		const referring = await responses().create(
			request({ input: [{ role: 'user', content: 'Hello harbor' }, reference, { role: 'user', content: 'And now?' }] }),
		);
		expect(referring.usage?.input_tokens).toBe(second.usage?.input_tokens);
		await expect(clientOf('sk-other-2222').responses.retrieve(first.id), 'of another account').rejects.toMatchObject({ status: 404 });
		await expect(responses().cancel(first.id)).rejects.toThrow(/background/);
		await responses().delete(first.id);
		await expect(responses().retrieve(first.id)).rejects.toMatchObject({ status: 404 });
		const unstored = await responses().create(request({ store: false }));
		const lost = responses().create(request({ previous_response_id: unstored.id }));
		await expect(lost).rejects.toMatchObject({ status: 400, code: 'previous_response_not_found' });
	});

	test('a background response is complete after its time, unless it is cancelled', async () => {
		const queued = await responses().create(request({ model: 'gpt-4o-sim-interval-1000', background: true }));
		expect(queued).toMatchObject({ status: 'queued', output: [] });
		simulator.clock.advance(1000);
		expect(await responses().retrieve(queued.id)).toMatchObject({ status: 'in_progress', output: [], usage: null });
		simulator.clock.advance(600_000);
		expect(await responses().retrieve(queued.id)).toMatchObject({ status: 'completed', output: [{ type: 'message' }] });
		const other = await responses().create(request({ model: 'gpt-4o-sim-interval-1000', background: true }));
		expect(await responses().cancel(other.id)).toMatchObject({ status: 'cancelled' });
		simulator.clock.advance(600_000);
		expect(await responses().retrieve(other.id)).toMatchObject({ status: 'cancelled' });
	});

	test('a background stream continues when its client disconnects, and is billed completely', async () => {
		const before = (await simulator.bill()).total;
		const stream = await responses().create({ model: 'gpt-4o-sim-interval-1000', input: 'Hello harbor', background: true, stream: true });
		let id = '';
		for await (const event of stream) {
			if (event.type === 'response.created') id = event.response.id;
			break;
		}
		let read = await responses().retrieve(id);
		for (let second = 0; second < 200 && read.status !== 'completed'; second++) {
			simulator.clock.advance(1000);
			read = await responses().retrieve(id);
		}
		expect(read.status).toBe('completed');
		const after = (await simulator.bill()).total;
		expect([after.complete - before.complete, after.aborted - before.aborted]).toEqual([1, 0]);
		expect(after.output_tokens - before.output_tokens).toBe(read.usage?.output_tokens);
	});

	test('compaction replaces the conversation, and counting is free', async () => {
		const input = [
			{ role: 'user', content: 'Hello harbor' },
			{ role: 'assistant', content: 'Hello' },
		];
		const compacted = await responses().compact({ model: 'gpt-5', input } as never);
		expect(typesOf(compacted.output)).toEqual(['message', 'compaction']);
		expect(compacted.usage.output_tokens).toBeGreaterThan(0);
		const next = await responses().create(request({ model: 'gpt-5', input: [...compacted.output, { role: 'user', content: 'And now?' }] }));
		expect(next.output_text).toContain('And now?');
		const counted = await responses().inputTokens.count({ model: 'gpt-5', input } as never);
		expect(counted).toEqual({ object: 'response.input_tokens', input_tokens: compacted.usage.input_tokens });
		const edits = [{ type: 'compaction', compact_threshold: 5 }];
		expect(typesOf((await responses().create(request({ context_management: edits }))).output)).toEqual(['message', 'compaction']);
	});

	test('Azure, under both paths', async () => {
		const azure = new AzureClient({
			endpoint: `${simulator.origin}/azure`,
			apiKey: 'azure-key-1',
			apiVersion: '2025-03-01-preview',
			maxRetries: 0,
		});
		expect(await azure.responses.create(request({ model: 'my-deployment' }))).toMatchObject({
			model: 'gpt-4.1-mini-2025-04-14',
			content_filters: [{ source_type: 'prompt' }, { source_type: 'completion' }],
		});
		const newer = new Client({ apiKey: 'azure-key-1', baseURL: `${simulator.origin}/azure/openai/v1`, maxRetries: 0 });
		const streamed = await newer.responses.stream(request({ model: 'my-deployment' }) as never).finalResponse();
		expect(streamed.output_text).toContain('Hello harbor');
		await expect(newer.responses.create(request({ model: 'no-such' }))).rejects.toMatchObject({ status: 404, code: 'DeploymentNotFound' });
		const unversioned = fetch(`${simulator.origin}/azure/openai/responses`, { method: 'POST', headers: { 'api-key': 'k' }, body: '{}' });
		expect((await unversioned).status).toBe(404);
	});

	const call = { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: '{}' };
	const output = { type: 'function_call_output', call_id: 'call_1', output: 'x' };
	const rejections: readonly [object, number, string | null, RegExp][] = [
		[{ model: 'no-such-model' }, 400, 'model_not_found', /'no-such-model' does not exist/],
		[{ max_output_tokens: 5 }, 400, 'integer_below_min_value', />= 16, but got 5/],
		[{ model: 'gpt-5', temperature: 0.5 }, 400, null, /'temperature' is not supported with this model/],
		[{ reasoning: { effort: 'low' } }, 400, 'unsupported_parameter', /'reasoning.effort' is not supported/],
		[{ include: ['reasoning.encrypted_content'] }, 400, null, /Encrypted content is not supported/],
		[{ input: undefined }, 400, 'missing_required_parameter', /must be provided/],
		[{ messages: [] }, 400, 'unsupported_parameter', /has moved to 'input'/],
		[{ stop: ['x'] }, 400, 'unknown_parameter', /Unknown parameter: 'stop'/],
		[{ input: [call] }, 400, null, /No tool output found for function call call_1\./],
		[{ input: [output] }, 400, null, /No tool call found for function call output with call_id call_1\./],
		[{ input: [{ type: 'invented' }] }, 400, 'invalid_value', /Invalid value: 'invented'/],
		[{ input: [{ ...call, id: 'call_1' }, output] }, 400, 'invalid_value', /Expected an ID that begins with 'fc'/],
		[{ input: [{ ...call, arguments: {} }, output] }, 400, 'invalid_type', /expected a string, but got an object/],
		[
			{ input: [{ role: 'assistant', content: [{ type: 'input_text', text: 'x' }] }] },
			400,
			'invalid_value',
			/Supported values are: 'output_text' and 'refusal'/,
		],
		[{ input: [{ type: 'item_reference', id: 'rs_1' }] }, 404, null, /Item with id 'rs_1' not found/],
		[{ tools: [{ type: 'function', function: { name: 'x' } }] }, 400, 'missing_required_parameter', /'tools\[0\].name'/],
		[{ tools: [{ ...weather, strict: true }] }, 400, 'invalid_function_parameters', /'additionalProperties' is required/],
		[{ tool_choice: { type: 'function', name: 'x' } }, 400, null, /not found in 'tools'/],
		[{ text: { format: { type: 'json_object' } } }, 400, null, /must contain the word 'json'/],
		[{ text: { format: { type: 'json_schema', schema: {} } } }, 400, 'missing_required_parameter', /'text.format.name'/],
		[{ model: 'sim-429' }, 429, 'rate_limit_exceeded', /Rate limit reached/],
		[{ model: 'sim-500' }, 500, null, /server had an error/],
	];
	test.each(rejections)('%j is %i', async (fields, status, code, message) => {
		const rejected = responses().create(request(fields));
		await expect(rejected).rejects.toMatchObject({ status, code });
		await expect(rejected).rejects.toThrow(message);
	});

	test('models of only one API', async () => {
		const messages = [{ role: 'user' as const, content: 'Hi' }];
		const chat = clientOf().chat.completions.create({ model: 'gpt-5-pro', messages });
		await expect(chat).rejects.toThrow(/only supported in v1\/responses/);
		expect((await responses().create(request({ model: 'gpt-5-pro' }))).status).toBe('completed');
	});
});
