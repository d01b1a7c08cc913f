import { describe, expect, test } from 'vitest';
import { toResponses } from '../../../../test/support/responses-requests.ts';
import { Rejection } from '../../../core/rejection.ts';
import type { JsonObject } from '../../json/parse-body.ts';

type Client = Parameters<typeof toResponses>[0];

const user = { role: 'user', content: 'Hi' };
const fixed = { model: 'gpt-4.1', input: [user], store: false };

function fromChat(request: JsonObject, model = 'gpt-4.1'): JsonObject {
	return toResponses('chat', { messages: [user], ...request }, { model }).body;
}

function fromMessages(request: JsonObject, model = 'gpt-4.1'): JsonObject {
	return toResponses('messages', { messages: [user], max_tokens: 50, ...request }, { model }).body;
}

function warnings(client: Client, request: JsonObject, model = 'gpt-4.1'): readonly string[] {
	return toResponses(client, { messages: [user], max_tokens: 50, ...request }, { model }).warnings;
}

function rejected(client: Client, request: JsonObject): string | undefined {
	try {
		toResponses(client, { messages: [user], max_tokens: 50, ...request });
	} catch (cause) {
		if (cause instanceof Rejection && cause.code === 'field_invalid') return cause.param;
		throw cause;
	}
	return 'not rejected';
}

describe('settings of chat completions', () => {
	const schema = { type: 'object', properties: {} };
	const fn = { name: 'f', description: 'd', parameters: schema };

	test.each<[string, JsonObject, JsonObject]>([
		['nothing', {}, {}],
		['the newer cap', { max_completion_tokens: 50, max_tokens: 9 }, { max_output_tokens: 50 }],
		['a low cap', { max_tokens: 9 }, { max_output_tokens: 16 }],
		['sampling', { temperature: 0.3, top_p: 0.5 }, { temperature: 0.3, top_p: 0.5 }],
		['a stream', { stream: true, stream_options: { include_usage: true } }, { stream: true }],
		['verbosity', { verbosity: 'low' }, { text: { verbosity: 'low' } }],
		['JSON', { response_format: { type: 'json_object' } }, { text: { format: { type: 'json_object' } } }],
		[
			'a schema',
			{ response_format: { type: 'json_schema', json_schema: { name: 'a', description: 'd', strict: true, schema } } },
			{ text: { format: { type: 'json_schema', name: 'a', description: 'd', strict: true, schema } } },
		],
		[
			'a schema that is not strict',
			{ response_format: { type: 'json_schema', json_schema: { name: 'a', schema } } },
			{ text: { format: { type: 'json_schema', name: 'a', strict: false, schema } } },
		],
		['log probabilities', { logprobs: true, top_logprobs: 2 }, { include: ['message.output_text.logprobs'], top_logprobs: 2 }],
		['no log probabilities', { logprobs: false, top_logprobs: 2 }, {}],
		...['user', 'safety_identifier', 'prompt_cache_key', 'prompt_cache_retention', 'service_tier'].map(
			(name): [string, JsonObject, JsonObject] => [name, { [name]: 'x' }, { [name]: 'x' }],
		),
		...['prompt_cache_options', 'metadata', 'moderation'].map((name): [string, JsonObject, JsonObject] => [
			name,
			{ [name]: { policy: { input: { mode: 'block' } } } },
			{ [name]: { policy: { input: { mode: 'block' } } } },
		]),
		[
			'tools',
			{
				tools: [
					{ type: 'function', function: fn },
					{ type: 'function', function: { name: 'g', strict: true } },
				],
				parallel_tool_calls: false,
			},
			{
				tools: [
					{ type: 'function', ...fn, strict: false },
					{ type: 'function', name: 'g', parameters: schema, strict: true },
				],
				tool_choice: 'auto',
				parallel_tool_calls: false,
			},
		],
		[
			'functions',
			{ functions: [fn], function_call: { name: 'f' } },
			{ tools: [{ type: 'function', ...fn, strict: false }], tool_choice: { type: 'function', name: 'f' }, parallel_tool_calls: false },
		],
		[
			'harmless values',
			{ n: 1, stop: [], logit_bias: {}, frequency_penalty: 0, presence_penalty: 0, store: false, modalities: ['text'] },
			{},
		],
		['a choice without tools', { tool_choice: 'required' }, {}],
	])('%s', (_name, request, expected) => {
		expect(fromChat(request)).toEqual({ ...fixed, ...expected });
	});

	test('custom tools stay custom', () => {
		const definition = { name: 'p', description: 'd', format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'x' } } };
		const tools = [
			{ type: 'custom', custom: definition },
			{ type: 'custom', custom: { name: 'q' } },
			{ type: 'function', function: { name: 'f' } },
		];
		const sent = fromChat({ tools, tool_choice: { type: 'custom', custom: { name: 'q' } } });
		expect(sent.tools).toEqual([
			{ type: 'custom', name: 'p', description: 'd', format: { type: 'grammar', syntax: 'lark', definition: 'x' } },
			{ type: 'custom', name: 'q' },
			{ type: 'function', name: 'f', parameters: schema, strict: false },
		]);
		expect(sent.tool_choice).toEqual({ type: 'custom', name: 'q' });
		const allowed_tools = {
			mode: 'auto',
			tools: [
				{ type: 'custom', custom: { name: 'q' } },
				{ type: 'function', function: { name: 'f' } },
			],
		};
		expect(fromChat({ tools, tool_choice: { type: 'allowed_tools', allowed_tools } }).tool_choice).toEqual({
			type: 'allowed_tools',
			mode: 'auto',
			tools: [
				{ type: 'custom', name: 'q' },
				{ type: 'function', name: 'f' },
			],
		});
	});

	test('models that reason return it encrypted, and reason with tools', () => {
		const tools = [{ type: 'function', function: { name: 'f' } }];
		expect(fromChat({ tools, reasoning_effort: 'high' }, 'gpt-5.6')).toMatchObject({
			reasoning: { effort: 'high', summary: 'auto' },
			include: ['reasoning.encrypted_content'],
		});
		expect(fromChat({ reasoning_effort: 'none' }, 'gpt-5.6').reasoning).toEqual({ effort: 'none' });
		expect(fromChat({}, 'o3-pro')).toEqual({ model: 'o3-pro', input: [user], include: ['reasoning.encrypted_content'], store: false });
		expect(fromChat({}, 'custom-model')).toEqual({ ...fixed, model: 'custom-model' });
	});

	test.each<[string, JsonObject, string]>([
		['max_tokens', { max_tokens: 9 }, 'gpt-4.1'],
		['seed', { seed: 1 }, 'gpt-4.1'],
		['frequency_penalty', { frequency_penalty: 1 }, 'gpt-4.1'],
		['presence_penalty', { presence_penalty: 1 }, 'gpt-4.1'],
		['prediction', { prediction: {} }, 'gpt-4.1'],
		['store', { store: true }, 'gpt-4.1'],
		['later', { later: 1 }, 'gpt-4.1'],
		['temperature', { temperature: 0.3 }, 'gpt-5'],
		['reasoning_effort', { reasoning_effort: 'high' }, 'gpt-4.1'],
		['messages', { messages: [user, { role: 'assistant', content: 'One' }] }, 'gpt-4.1'],
	])('%s is changed or dropped with a warning', (field, request, model) => {
		expect(warnings('chat', request, model).map((one) => one.split(': ')[0])).toEqual([field]);
	});

	test.each<[string, JsonObject]>([
		['n', { n: 2 }],
		['stop', { stop: ['a'] }],
		['stop', { stop: 'a' }],
		['logit_bias', { logit_bias: { 1: 1 } }],
		['audio', { audio: {} }],
		['modalities', { modalities: ['audio'] }],
		['web_search_options', { web_search_options: {} }],
		['verbosity', { verbosity: 1 }],
		['tools[0].type', { tools: [{ type: 'odd' }] }],
		['tools[0].custom.name', { tools: [{ type: 'custom', custom: {} }] }],
		['tool_choice', { tools: [{ type: 'custom', custom: { name: 'a' } }], tool_choice: { type: 'custom', custom: { name: 'b' } } }],
		['messages[0].content[0].type', { messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }] }],
		['messages[0].content[0].file', { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'a' } }] }] }],
		['messages', { messages: [] }],
		[
			'messages[1].tool_calls[0]',
			{ messages: [user, { role: 'assistant', tool_calls: [{ id: 'a', type: 'custom', custom: { name: 'f', input: '' } }] }] },
		],
	])('%s is rejected in %j', (param, request) => {
		expect(rejected('chat', request)).toBe(param);
	});
});

describe('turns of chat completions', () => {
	function input(messages: readonly JsonObject[]): JsonObject {
		const { instructions, input: items } = toResponses('chat', { messages }).body;
		return { instructions, input: items };
	}

	test('leading instructions are joined, later ones in place', () => {
		const system = (content: string): JsonObject => ({ role: 'system', content });
		expect(input([system('a'), { role: 'developer', content: 'b' }, user, system('c')])).toEqual({
			instructions: 'a\n\nb',
			input: [user, { role: 'developer', content: 'c' }],
		});
		expect(input([system('a')])).toEqual({ instructions: undefined, input: [{ role: 'developer', content: 'a' }] });
	});

	test('images and files', () => {
		const content = [
			{ type: 'text', text: 'a' },
			{ type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'low' } },
			{ type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
		];
		expect(input([{ role: 'user', content }]).input).toEqual([
			{
				role: 'user',
				content: [
					{ type: 'input_text', text: 'a' },
					{ type: 'input_image', image_url: 'https://example.com/a.png', detail: 'low' },
					{ type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' },
				],
			},
		]);
	});

	test('calls of all kinds with their results', () => {
		const long = 'x'.repeat(70);
		const tool_calls = [
			{ id: 'a', type: 'function', function: { name: 'f', arguments: '{ }' } },
			{ id: long, type: 'custom', custom: { name: 'p', input: 'free' } },
		];
		const messages = [
			user,
			{ role: 'assistant', content: 'Calling', refusal: null, tool_calls },
			{
				role: 'tool',
				tool_call_id: long,
				content: [
					{ type: 'text', text: 'b' },
					{ type: 'text', text: 'c' },
				],
			},
			{ role: 'tool', tool_call_id: 'a', content: '' },
			{ role: 'assistant', function_call: { name: 'g', arguments: '' } },
			{ role: 'function', name: 'g', content: 'd' },
		];
		const call_id = expect.stringMatching(/^x{55}_[0-9a-f]{8}$/) as string;
		expect(input(messages).input).toEqual([
			user,
			{ role: 'assistant', content: [{ type: 'output_text', text: 'Calling' }] },
			{ type: 'function_call', call_id: 'a', name: 'f', arguments: '{ }' },
			{ type: 'custom_tool_call', call_id, name: 'p', input: 'free' },
			{ type: 'custom_tool_call_output', call_id, output: 'b\nc' },
			{ type: 'function_call_output', call_id: 'a', output: '' },
			{ type: 'function_call', call_id: 'call_4', name: 'g', arguments: '' },
			{ type: 'function_call_output', call_id: 'call_4', output: 'd' },
		]);
	});

	test('reasoning returns before what it led to', () => {
		const summary = [{ type: 'summary_text', text: 'Hm' }];
		const block = { type: 'encrypted_reasoning', id: 'rs_1', encrypted_content: 'gAAAA', summary };
		const answered = { role: 'assistant', content: 'Yes', thinking_blocks: [block] };
		expect(input([user, answered, user]).input).toEqual([
			user,
			{ type: 'reasoning', id: 'rs_1', encrypted_content: 'gAAAA', summary },
			{ role: 'assistant', content: [{ type: 'output_text', text: 'Yes' }] },
			user,
		]);
		const foreign = { type: 'thinking', thinking: 'Hm', signature: 'sig' };
		const other = { messages: [user, { ...answered, thinking_blocks: [foreign, { type: 'encrypted_reasoning' }] }, user] };
		expect(toResponses('chat', other).body.input).toHaveLength(3);
		expect(warnings('chat', other)).toEqual(['thinking_blocks: reasoning of another vendor dropped']);
	});
});

describe('the messages dialect', () => {
	test('settings', () => {
		const request = {
			system: [
				{ type: 'text', text: 'a' },
				{ type: 'text', text: 'b' },
			],
			metadata: { user_id: 'u' },
			service_tier: 'standard_only',
			stop_sequences: [],
			tools: [{ name: 'f', input_schema: { type: 'object' } }],
			tool_choice: { type: 'any', disable_parallel_tool_use: true },
			output_config: { format: { type: 'json_schema', schema: { type: 'object' } } },
		};
		expect(fromMessages(request)).toEqual({
			...fixed,
			instructions: 'a\n\nb',
			max_output_tokens: 50,
			tools: [{ type: 'function', name: 'f', parameters: { type: 'object', properties: {} }, strict: false }],
			tool_choice: 'required',
			parallel_tool_calls: false,
			text: { format: { type: 'json_schema', name: 'output', strict: true, schema: { type: 'object' } } },
			safety_identifier: 'u',
			service_tier: 'default',
		});
		const thinking = { type: 'enabled', budget_tokens: 9000 };
		expect(fromMessages({ thinking }, 'gpt-5').reasoning).toEqual({ effort: 'high', summary: 'auto' });
		expect(fromMessages({ thinking: { ...thinking, display: 'omitted' } }, 'gpt-5').reasoning).toEqual({ effort: 'high' });
		expect(warnings('messages', { top_k: 3, service_tier: 'priority' }).map((one) => one.split(': ')[0])).toEqual([
			'top_k',
			'service_tier',
		]);
		expect(rejected('messages', { stop_sequences: ['a'] })).toBe('stop_sequences');
		expect(rejected('messages', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] })).toBe('tools[0].type');
	});

	test('results keep their images and errors, and documents their links', () => {
		const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } };
		const messages = [
			{ role: 'user', content: [{ type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } }] },
			{
				role: 'assistant',
				content: [{ type: 'text', text: ' ' }, ...['a', 'b', 'c'].map((id) => ({ type: 'tool_use', id, name: 'f', input: { n: 1 } }))],
			},
			{
				role: 'user',
				content: [
					{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'x' }, image] },
					{ type: 'tool_result', tool_use_id: 'b', content: 'no', is_error: true },
					{ type: 'tool_result', tool_use_id: 'c', content: [image], is_error: true },
				],
			},
		];
		const inputImage = { type: 'input_image', image_url: 'data:image/png;base64,AA==', detail: 'auto' };
		expect(fromMessages({ messages }).input).toEqual([
			{ role: 'user', content: [{ type: 'input_file', file_url: 'https://example.com/a.pdf' }] },
			...['a', 'b', 'c'].map((call_id) => ({ type: 'function_call', call_id, name: 'f', arguments: '{"n":1}' })),
			{ type: 'function_call_output', call_id: 'a', output: [{ type: 'input_text', text: 'x' }, inputImage] },
			{ type: 'function_call_output', call_id: 'b', output: 'Error: no' },
			{ type: 'function_call_output', call_id: 'c', output: [{ type: 'input_text', text: 'Error:' }, inputImage] },
		]);
	});

	test('reasoning of OpenAI returns from signatures, that of others is dropped', () => {
		const signature = `oai1.${Buffer.from(JSON.stringify({ id: 'rs_1', encrypted_content: 'gAAAA' })).toString('base64url')}`;
		const answered = (block: JsonObject): JsonObject => ({
			messages: [user, { role: 'assistant', content: [block, { type: 'text', text: 'Yes' }] }, user],
		});
		const reasoning = { type: 'reasoning', id: 'rs_1', encrypted_content: 'gAAAA' };
		const summary = [{ type: 'summary_text', text: 'Hm' }];
		const inputOf = (block: JsonObject): unknown => (fromMessages(answered(block)).input as JsonObject[])[1];
		expect(inputOf({ type: 'thinking', thinking: 'Hm', signature })).toEqual({ ...reasoning, summary });
		expect(inputOf({ type: 'redacted_thinking', data: signature })).toEqual({ ...reasoning, summary: [] });
		const alone = [user, { role: 'assistant', content: [{ type: 'redacted_thinking', data: signature }] }, user];
		expect(fromMessages({ messages: [...alone, { role: 'assistant', content: 'Yes' }, user] }).input).not.toContainEqual({
			...reasoning,
			summary: [],
		});
		for (const foreign of ['sig', 'oai1.', 'oai1.e30', 'oai1.!']) {
			const block = { type: 'thinking', thinking: 'Hm', signature: foreign };
			expect(inputOf(block)).toMatchObject({ role: 'assistant' });
			expect(warnings('messages', answered(block))).toEqual(['thinking: reasoning of another vendor dropped']);
		}
	});
});
