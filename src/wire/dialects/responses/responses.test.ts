import { describe, expect, it, test } from 'vitest';
import { Rejection } from '../../../core/rejection.ts';
import { noUsage } from '../../../core/usage.ts';
import { EventBatch } from '../../events/event-batch.ts';
import { EventFramer } from '../../events/event-framer.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { UsageMeter } from '../../usage/usage-meter.ts';
import { usageOfResponses } from '../../usage/usage-reader.ts';
import { responses } from './responses.ts';

const user = { role: 'user', content: 'Hi' };
const call = { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' };
const output = { type: 'function_call_output', call_id: 'c1', output: '' };

function problemOf(members: JsonObject): string {
	try {
		responses.validate({ model: 'gpt-5', ...members });
		return 'none';
	} catch (cause) {
		if (!(cause instanceof Rejection)) throw cause;
		return `${cause.status} ${cause.param}`;
	}
}

describe('a request is rejected with the path of', () => {
	const invalid: readonly (readonly [param: string, members: JsonObject])[] = [
		['input', {}],
		['input', { input: '' }],
		['input', { input: [] }],
		['input', { input: { role: 'user' } }],
		['input', { input: null }],
		['input', { input: Array.from({ length: 100_000 }, () => user) }],
		['input[1]', { input: [user, 'Hi'] }],
		['input[0].type', { input: [{ type: 'brand_new', text: 'x' }] }],
		['input[0].type', { input: [{ type: 7 }] }],
		['input[0].role', { input: [{ type: 'message', content: 'x' }] }],
		['input[0].content', { input: [{ role: 'user' }] }],
		['input[0].content', { input: [{ role: 'user', content: { type: 'input_text' } }] }],
		['input[0].content[0]', { input: [{ role: 'user', content: ['x'] }] }],
		['input[0].content[0].type', { input: [{ role: 'user', content: [{ text: 'x' }] }] }],
		[
			'input[0].content[0].image_url',
			{ input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'data:image/png;base64,%%%' }] }] },
		],
		[
			'input[0].content[0].image_url',
			{ input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'data:image/png;base64' }] }] },
		],
		[
			'input[0].content[0].file_data',
			{ input: [{ role: 'user', content: [{ type: 'input_file', file_data: 'data:application/pdf;base64,ä' }] }] },
		],
		['input[0].content[0].file_data', { input: [{ role: 'user', content: [{ type: 'input_file', file_data: '****' }] }] }],
		['input[0].content[0].file_data', { input: [{ role: 'user', content: [{ type: 'input_file', file_data: '' }] }] }],
		...['AAAAA', 'AAA==', 'AA='].map((data): [string, JsonObject] => [
			'input[0].content[0].image_url',
			{ input: [{ role: 'user', content: [{ type: 'input_image', image_url: `data:image/png;base64,${data}` }] }] },
		]),
		['input[0].output[0].file_data', { input: [{ ...output, output: [{ type: 'input_file', file_data: 'no base64' }] }, call] }],
		['input[1].output[0].image_url', { input: [call, { ...output, output: [{ type: 'input_image', image_url: 'data:x' }] }] }],
		['input[0].call_id', { input: [call, user] }],
		['input[0].call_id', { input: [{ ...call, type: 'custom_tool_call', input: '' }] }],
		['input[0].call_id', { input: [{ ...call, call_id: undefined }, output] }],
		['input[0].call_id', { input: [output, user] }],
		['input[1].call_id', { input: [call, call, output] }],
		['input[0].arguments', { input: [{ ...call, arguments: {} }, output] }],
		['input[1].output', { input: [call, { ...output, output: 7 }] }],
		['input[0].tools', { input: [{ type: 'additional_tools', role: 'developer', tools: {} }, user] }],
		['tools', { input: 'x', tools: {} }],
		['include', { input: 'x', include: 'reasoning.encrypted_content' }],
		['instructions', { input: 'x', instructions: ['x'] }],
		['stream', { input: 'x', stream: 'yes' }],
		['store', { input: 'x', store: 'no' }],
		['max_output_tokens', { input: 'x', max_output_tokens: -1 }],
		['previous_response_id', { input: 'x', previous_response_id: 'resp_1' }],
		['conversation', { input: 'x', conversation: { id: 'conv_1' } }],
		['background', { input: 'x', background: true }],
		['prompt', { input: 'x', prompt: { id: 'pmpt_1' } }],
		['input[1]', { input: [user, { type: 'item_reference', id: 'rs_1' }] }],
		['input[0]', { input: [{ id: 'rs_1' }] }],
		['input[0]', { input: [{ type: null, id: 'rs_1' }] }],
		['input[1]', { input: [user, { type: 'reasoning', id: 'rs_1', summary: [], content: null, encrypted_content: null }] }],
		['input[1]', { input: [user, { type: 'image_generation_call', id: 'ig_1', status: 'completed' }] }],
	];

	test.each(invalid)('%s', (param, members) => {
		expect(problemOf(members)).toBe(`400 ${param}`);
	});

	it.each([
		{ previous_response_id: 'resp_1' },
		{ input: [{ id: 'msg_1' }] },
		{ conversation: 'conv_1' },
		{ background: true },
		{ prompt: { id: 'pmpt_1' } },
	])('and with the cure: %j', (members) => {
		expect(() => {
			responses.validate({ model: 'gpt-5', input: 'x', ...members });
		}).toThrow('this gateway keeps no responses: send the whole conversation in `input`, with `store: false`');
	});
});

test.each<[string, JsonObject]>([
	['text', { input: 'x' }],
	['nulls', { input: 'x', previous_response_id: null, conversation: null, store: null, background: false, prompt: null, tools: null }],
	['calls in one turn', { input: [call, { ...call, call_id: 'c2' }, { ...output, call_id: 'c2' }, output] }],
	['reasoning without content', { input: [{ type: 'reasoning', id: 'rs_1', summary: [], content: null, encrypted_content: 'x' }, user] }],
	['an output of a compacted call', { input: [{ type: 'compaction', encrypted_content: 'x' }, output] }],
	['an output of a shell call', { input: [{ type: 'local_shell_call', call_id: 'c1', action: {} }, output] }],
	[
		'a computer call',
		{ input: [{ type: 'computer_call_output', call_id: 'c', output: { type: 'computer_screenshot', image_url: 'https://h.test' } }, user] },
	],
	[
		'empty call ids',
		{
			input: [
				{ ...call, call_id: '' },
				{ ...output, call_id: '' },
			],
		},
	],
	['items of other servers', { input: [{ type: 'vendor:note', text: 'x' }, user] }],
	['images', { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'data:image/png;base64,AA==' }] }] }],
	['base64 without padding', { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'data:image/png;base64,AAA' }] }] }],
	['a file without a data URL', { input: [{ role: 'user', content: [{ type: 'input_file', file_data: 'JVBERi0=', filename: 'a.pdf' }] }] }],
	['reasoning of which only a summary is left', { input: [{ type: 'reasoning', id: 'rs_1', summary: [{ text: 'x' }] }, user] }],
	['an SVG as text', { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'data:image/svg+xml,%3Csvg/%3E' }] }] }],
])('a request passes with %s', (_what, members) => {
	expect(problemOf(members)).toBe('none');
});

test('inputs of budgets: attachments, and tools in all places', () => {
	const tools = [
		{ type: 'function', name: 'f' },
		{ type: 'namespace', name: 'n', tools: [{ type: 'custom', name: 'g' }, { type: 'apply_patch' }] },
		{ type: 'web_search' },
	];
	const image = { type: 'input_image', image_url: 'data:image/png;base64,AAAA' };
	expect(
		responses.inputContent({
			tools,
			input: [
				{ role: 'user', content: [{ type: 'input_text', text: 'x' }, image] },
				{ ...output, output: [image] },
				{ type: 'additional_tools', tools: [{ type: 'shell', environment: { type: 'container_auto' } }, { type: 'local_shell' }] },
			],
			text: { format: { type: 'json_schema' } },
		}),
	).toEqual({ attachments: 2, attachedBytes: 52, hasTools: true, hasSchema: true, definedTools: 2, serverTools: 2 });
	expect(responses.inputContent({ input: 'x' })).toMatchObject({ attachments: 0, hasTools: false, hasSchema: false, serverTools: 0 });
});

test.each([
	[{ reasoning: { effort: 'high' } }, true],
	[{ reasoning: { effort: 'none' } }, false],
	[{ reasoning: { summary: 'auto' } }, undefined],
	[{}, undefined],
])('%j requests reasoning: %s', (members, requested) => {
	expect(responses.requestsThinking(members)).toBe(requested);
});

test('usage includes cache reads and writes once', () => {
	expect(
		usageOfResponses({
			input_tokens: 100,
			input_tokens_details: { cached_tokens: 30, cache_write_tokens: 20 },
			output_tokens: 50,
			output_tokens_details: { reasoning_tokens: 40 },
		}),
	).toEqual({ inputTokens: 50, cacheReadTokens: 30, cacheWriteTokens: 20, cacheWriteHourTokens: 0, outputTokens: 50, reasoningTokens: 40 });
	expect(usageOfResponses({ input_tokens: 1 })).toBeUndefined();
});

describe('the end of a stream', () => {
	const framed = (text: string): EventFramer => {
		const framer = new EventFramer(responses.markLine);
		framer.push(Buffer.from(text));
		return framer;
	};

	test.each([
		['event: response.completed\ndata: {}\n\n', true, false],
		['event: response.incomplete\ndata: {}\n\n', true, false],
		['event: response.failed\ndata: {}\n\n', false, true],
		['event: error\ndata: {}\n\n', false, true],
		['data: {"type":"response.completed","response":{}}\n\n', true, false],
		['data: {"type":"response.incomplete","response":{}}\n\n', true, false],
		['data: {"type":"response.failed","response":{}}\n\n', false, true],
		['data: {"type":"error","message":"x"}\n\n', false, true],
		['data: {"type": "response.completed", "response": {}}\n\n', true, false],
		['data: {"type": "response.failed", "response": {}}\n\n', false, true],
		['data: {"error":{"message":"x"}}\n\n', false, true],
		['data: {"error":null,"type":"response.output_text.delta"}\n\n', false, false],
		['event: response.in_progress\ndata: {"type":"response.in_progress"}\n\n', false, false],
		['event: response.output_text.delta\ndata: {"delta":"event: response.completed"}\n\n', false, false],
	])('%j', (text, isTerminated, hasFailed) => {
		const framer = framed(text);
		expect([framer.isTerminated, framer.hasFailed]).toEqual([isTerminated, hasFailed]);
	});

	test('is recognised without names if the type is not the first member', () => {
		expect(responses.isComplete(Buffer.from('data: {"response":{},"type":"response.completed"}'))).toBe(true);
		expect(responses.isComplete(Buffer.from('data: {"delta":"\\"response.completed\\""}'))).toBe(false);
	});
});

describe('the output of a stream without usage', () => {
	const tokensOf = (events: readonly JsonObject[]): number => {
		const meter = new UsageMeter(responses.usage, { estimatedInputTokens: 1, isUsageInjected: false });
		meter.push(EventBatch.ofTexts(events.map((event) => `data: ${JSON.stringify(event)}\n\n`)));
		return meter.read().usage.outputTokens;
	};
	const text = 'abc'.repeat(100);
	const part = { type: 'output_text', text };
	const item = { type: 'message', content: [part] };

	test('counts a text once, although events repeat it', () => {
		const begin = [
			{ type: 'response.content_part.added', part: { type: 'output_text', text: '' } },
			{ type: 'response.output_text.delta', delta: text },
		];
		expect(tokensOf(begin)).toBe(100);
		const whole = [
			...begin,
			{ type: 'response.output_text.done', text },
			{ type: 'response.content_part.done', part },
			{ type: 'response.output_item.done', item },
			{ type: 'response.completed', response: { output: [item], usage: null } },
		];
		expect(tokensOf(whole)).toBe(100);
	});

	test('counts arguments that come without deltas', () => {
		const done = { type: 'response.function_call_arguments.done', arguments: text };
		const added = { type: 'response.output_item.added', item: { type: 'function_call', arguments: '' } };
		expect(tokensOf([added, done, { type: 'response.output_item.done', item: { arguments: text } }, added, done])).toBe(200);
	});
});

describe('a stream that ends as if its output cap were reached', () => {
	const added = (output_index: number, item: JsonObject): JsonObject => ({ type: 'response.output_item.added', output_index, item });
	const begin = [
		{ type: 'response.created', response: { id: 'resp_1', status: 'in_progress', output: [], tools: [{ name: 'f' }] }, sequence_number: 0 },
		added(0, { type: 'reasoning', id: 'rs_1', summary: [] }),
		{ type: 'response.reasoning_summary_part.added', output_index: 0, summary_index: 0, part: { type: 'summary_text', text: '' } },
		{ type: 'response.reasoning_summary_text.delta', output_index: 0, summary_index: 0, delta: 'Hm' },
		{ type: 'response.output_item.done', output_index: 0, item: { type: 'reasoning', id: 'rs_1', encrypted_content: 'E' } },
		added(1, { type: 'message', id: 'msg_1', role: 'assistant', status: 'in_progress', content: [] }),
		{ type: 'response.content_part.added', output_index: 1, content_index: 0, part: { type: 'output_text', text: '', annotations: [] } },
		{ type: 'response.output_text.delta', output_index: 1, content_index: 0, delta: 'Hel' },
		{ type: 'response.output_text.delta', output_index: 1, content_index: 0, delta: 'lo' },
		added(2, { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: '' }),
		{ type: 'response.function_call_arguments.delta', output_index: 2, delta: '{"a"', sequence_number: 9 },
	];

	test('closes what is open, and has the whole output', () => {
		const ending = responses.followToCap({});
		ending.push(EventBatch.ofTexts(begin.map((event) => `data: ${JSON.stringify(event)}\n\n`)));
		const events = ending.end({ ...noUsage, inputTokens: 7, cacheReadTokens: 2, outputTokens: 5, reasoningTokens: 1 })?.events ?? [];
		const written = events.map((event) => event.json() ?? {});
		expect(written.map(({ type }) => type)).toEqual([
			'response.output_text.done',
			'response.content_part.done',
			'response.output_item.done',
			'response.function_call_arguments.done',
			'response.output_item.done',
			'response.incomplete',
		]);
		expect(events.map(({ name }) => name)).toEqual(written.map(({ type }) => type));
		expect(written.map(({ sequence_number }) => sequence_number)).toEqual([10, 11, 12, 13, 14, 15]);
		expect(written.at(-1)?.['response']).toEqual({
			id: 'resp_1',
			status: 'incomplete',
			incomplete_details: { reason: 'max_output_tokens' },
			tools: [{ name: 'f' }],
			output: [
				{ type: 'reasoning', id: 'rs_1', encrypted_content: 'E' },
				{
					type: 'message',
					id: 'msg_1',
					role: 'assistant',
					status: 'incomplete',
					content: [{ type: 'output_text', text: 'Hello', annotations: [] }],
				},
				{ type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: '{"a"', status: 'incomplete' },
			],
			usage: {
				input_tokens: 9,
				input_tokens_details: { cached_tokens: 2, cache_write_tokens: 0 },
				output_tokens: 5,
				output_tokens_details: { reasoning_tokens: 1 },
				total_tokens: 14,
			},
		});
	});

	test('has no events before the first one of the provider', () => {
		expect(responses.followToCap({}).end(noUsage)).toBeUndefined();
	});
});

test('an error before the first event has no failed response', () => {
	const error = { status: 429, code: 'budget_exceeded', message: 'm', requestId: 'r' };
	const [event, ...others] = responses.followToError?.().end(error) ?? [];
	expect(others).toEqual([]);
	expect(event?.toString()).toBe(
		'event: error\ndata: {"type":"error","sequence_number":0,"code":"insufficient_quota","message":"m","param":null,' +
			'"error":{"type":"rate_limit_error","message":"m","code":"insufficient_quota","gateway_code":"budget_exceeded","param":null},' +
			'"request_id":"r"}\n\n',
	);
	expect(responses.renderErrorEvent(error)).toEqual(event);
});
