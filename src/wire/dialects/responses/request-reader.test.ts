import { describe, expect, test } from 'vitest';
import { fromResponses, type Provider } from '../../../../test/support/responses-requests.ts';
import { Rejection } from '../../../core/rejection.ts';
import type { JsonObject } from '../../json/parse-body.ts';

const providers: readonly Provider[] = ['chat', 'messages', 'gemini'];
const fn = (name: string, more: JsonObject = {}): JsonObject => ({ type: 'function', name, ...more });
const withTools = { tools: [fn('f'), fn('g')] };

function sent(provider: Provider, request: JsonObject, model?: string): JsonObject {
	return fromResponses(provider, { model: 'x', input: 'Hi', ...request }, model === undefined ? {} : { model }).body;
}

function warnings(provider: Provider, request: JsonObject): readonly string[] {
	return fromResponses(provider, { model: 'x', input: 'Hi', ...request }).warnings;
}

function rejected(provider: Provider, request: JsonObject): string | undefined {
	try {
		sent(provider, request);
	} catch (cause) {
		if (cause instanceof Rejection && cause.code === 'field_invalid') return cause.param;
		throw cause;
	}
	return 'not rejected';
}

describe('settings that are mapped', () => {
	test.each<[string, JsonObject, Provider, JsonObject]>([
		['a string', { input: 'Hi' }, 'chat', { messages: [{ role: 'user', content: 'Hi' }] }],
		['instructions', { instructions: 'Be brief' }, 'messages', { system: [{ type: 'text', text: 'Be brief' }] }],
		['instructions', { instructions: 'Be brief' }, 'gemini', { systemInstruction: { parts: [{ text: 'Be brief' }] } }],
		['max_output_tokens', { max_output_tokens: 50 }, 'chat', { max_tokens: 50 }],
		['max_output_tokens', { max_output_tokens: 50 }, 'messages', { max_tokens: 50 }],
		['temperature', { temperature: 0.5, top_p: 0.4 }, 'chat', { temperature: 0.5, top_p: 0.4 }],
		['top_logprobs', { top_logprobs: 3, include: ['message.output_text.logprobs'] }, 'chat', { logprobs: true, top_logprobs: 3 }],
		['logprobs alone', { include: ['message.output_text.logprobs'] }, 'chat', { logprobs: true, top_logprobs: 0 }],
		['json_object', { text: { format: { type: 'json_object' } } }, 'chat', { response_format: { type: 'json_object' } }],
		['verbosity', { text: { verbosity: 'low' } }, 'chat', { verbosity: 'low' }],
		['cache key', { prompt_cache_key: 'k', service_tier: 'flex' }, 'chat', { prompt_cache_key: 'k', service_tier: 'flex' }],
		['user', { user: 'u', safety_identifier: 's' }, 'chat', { user: 's' }],
		['user', { user: 'u' }, 'messages', { metadata: { user_id: 'u' } }],
		['stream', { stream: true, stream_options: { include_obfuscation: false } }, 'chat', { stream: true }],
		['tier', { service_tier: 'default' }, 'messages', { service_tier: 'standard_only' }],
		['one call', { ...withTools, parallel_tool_calls: false }, 'chat', { parallel_tool_calls: false }],
		[
			'one call',
			{ ...withTools, parallel_tool_calls: false },
			'messages',
			{ tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
		],
		['choice', { ...withTools, tool_choice: 'required' }, 'messages', { tool_choice: { type: 'any' } }],
		['choice', { ...withTools, tool_choice: 'none' }, 'chat', { tool_choice: 'none' }],
		[
			'choice',
			{ ...withTools, tool_choice: { type: 'function', name: 'g' } },
			'chat',
			{ tool_choice: { type: 'function', function: { name: 'g' } } },
		],
	])('%s %j to %s', (_name, request, provider, expected) => {
		expect(sent(provider, request)).toMatchObject(expected);
	});

	test('a schema keeps its label for chat completions', () => {
		const schema = { type: 'object', properties: {} };
		const text = { format: { type: 'json_schema', name: 'Person', description: 'd', strict: true, schema } };
		const wrapped = { type: 'json_schema', json_schema: { name: 'Person', description: 'd', strict: true, schema } };
		expect(sent('chat', { text }).response_format).toEqual(wrapped);
		expect(sent('gemini', { text }).generationConfig).toMatchObject({ responseJsonSchema: schema });
		expect(sent('messages', { text }).output_config).toMatchObject({ format: { type: 'json_schema' } });
	});

	test('reasoning', () => {
		const reasoning = { effort: 'high', summary: 'auto' };
		expect(sent('chat', { reasoning }, 'gpt-5').reasoning_effort).toBe('high');
		expect(sent('messages', { reasoning, max_output_tokens: 9000 }).thinking).toEqual({ type: 'enabled', budget_tokens: 7200 });
		expect(sent('gemini', { reasoning }).generationConfig).toMatchObject({ thinkingConfig: { includeThoughts: true } });
		const update = { type: 'configuration_update', reasoning: { effort: 'low' } };
		const input = [update, { role: 'user', content: 'Hi' }];
		expect(sent('chat', { reasoning, input }, 'gpt-5').reasoning_effort).toBe('low');
	});

	test('allowed tools', () => {
		const tool_choice = { type: 'allowed_tools', mode: 'required', tools: [fn('g'), { type: 'web_search' }] };
		const named = (body: JsonObject): unknown =>
			(body.tools as JsonObject[]).map((tool) => tool.name ?? (tool.function as JsonObject).name);
		expect(named(sent('chat', { ...withTools, tool_choice }))).toEqual(['g']);
		expect(named(sent('messages', { ...withTools, tool_choice }))).toEqual(['g']);
		expect(sent('gemini', { ...withTools, tool_choice }).toolConfig).toEqual({
			functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['g'] },
		});
	});
});

describe('settings without effect are ignored', () => {
	test.each<JsonObject>([
		{ store: true },
		{ store: false },
		{ metadata: { a: 'b' } },
		{ client_metadata: { a: 'b' } },
		{ max_tool_calls: 3 },
		{ truncation: 'disabled' },
		{ background: false },
		{ top_logprobs: 0 },
		{ include: ['reasoning.encrypted_content'] },
		{ prompt_cache_key: 'k', prompt_cache_options: { ttl: '30m' }, prompt_cache_retention: '24h' },
		{ previous_response_id: null, conversation: null, prompt: null },
		{ reasoning: { context: 'auto', generate_summary: 'auto', mode: 'standard', summary: null } },
		{ text: { format: { type: 'text' } } },
		{ tool_choice: 'auto' },
		{ ...withTools, tool_choice: 'none', parallel_tool_calls: false },
	])('%j', (request) => {
		for (const provider of providers) expect(warnings(provider, request)).toEqual([]);
	});
});

describe('settings that are dropped with a warning', () => {
	test.each<[string, JsonObject, readonly Provider[]]>([
		['text.verbosity', { text: { verbosity: 'low' } }, ['messages', 'gemini']],
		['text.later', { text: { later: 1 } }, providers],
		['reasoning.mode', { reasoning: { mode: 'pro' } }, providers],
		['truncation', { truncation: 'auto' }, providers],
		['include[0]', { include: ['web_search_call.results'] }, providers],
		['moderation', { moderation: { policy: { input: { mode: 'score' } } } }, providers],
		['context_management', { context_management: [{ type: 'compaction' }] }, providers],
		['access_programs', { access_programs: [] }, providers],
		['service_tier', { service_tier: 'flex' }, ['messages', 'gemini']],
		['parallel_tool_calls', { ...withTools, parallel_tool_calls: false }, ['gemini']],
		['tools[1].type', { tools: [fn('f'), { type: 'web_search', external_web_access: true }] }, providers],
		['tools[0].type', { tools: [{ type: 'web_search_preview' }] }, providers],
		['tools[0].format', { tools: [{ type: 'custom', name: 'p', format: { type: 'grammar', syntax: 'lark' } }] }, providers],
		[
			'input[1].text',
			{
				input: [
					{ role: 'user', content: 'Hi' },
					{ type: 'configuration_update', text: {} },
				],
			},
			providers,
		],
		['max_output_tokens', { max_output_tokens: 50 }, []],
	])('%s in %j', (field, request, warned) => {
		for (const provider of warned) expect(warnings(provider, request).map((one) => one.split(': ')[0])).toEqual([field]);
	});

	test('verbosity of a compatible server', () => {
		const { body, warnings: list } = fromResponses(
			'chat',
			{ input: 'Hi', text: { verbosity: 'low' }, prompt_cache_key: 'k' },
			{ model: 'llama' },
		);
		expect(body).toEqual({ model: 'llama', messages: [{ role: 'user', content: 'Hi' }] });
		expect(list).toEqual(['text.verbosity: ignored']);
	});
});

describe('settings that are rejected', () => {
	test.each<[string, JsonObject, readonly Provider[]]>([
		['previous_response_id', { previous_response_id: 'resp_1' }, providers],
		['conversation', { conversation: { id: 'conv_1' } }, providers],
		['prompt', { prompt: { id: 'p' } }, providers],
		['background', { background: true }, providers],
		['top_logprobs', { top_logprobs: 2 }, ['messages', 'gemini']],
		['include[1]', { include: ['reasoning.encrypted_content', 'message.output_text.logprobs'] }, ['messages', 'gemini']],
		['moderation.policy', { moderation: { policy: { output: { mode: 'block' } } } }, providers],
		['max_output_tokens', { max_output_tokens: 1.5 }, providers],
		['temperature', { temperature: 'hot' }, providers],
		['reasoning.effort', { reasoning: { effort: 'huge' } }, providers],
		['text.format.type', { text: { format: { type: 'xml' } } }, providers],
		['text.format.schema', { text: { format: { type: 'json_schema', name: 'a' } } }, providers],
		['instructions', { instructions: ['a'] }, providers],
		['input', { input: '' }, providers],
		['input', { input: [] }, providers],
		['input', { input: 7 }, providers],
		['input', { input: [{ role: 'developer', content: 'a' }] }, ['messages', 'gemini']],
		['tools', { tools: {} }, providers],
		...['file_search', 'code_interpreter', 'image_generation', 'mcp', 'local_shell', 'shell', 'apply_patch', 'computer', 'tool_search'].map(
			(type): [string, JsonObject, readonly Provider[]] => ['tools[1].type', { tools: [fn('f'), { type }] }, providers],
		),
		['tools[0].tools[0].type', { tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'mcp' }] }] }, providers],
		['input[0].tools[0].type', { input: [{ type: 'additional_tools', tools: [{ type: 'mcp' }] }] }, providers],
		['tools[0].name', { tools: [{ type: 'function' }] }, providers],
		['tools[0].parameters', { tools: [fn('f', { parameters: 'x' })] }, providers],
		['tools[1].tools[0].name', { tools: [fn('n__f'), { type: 'namespace', name: 'n', tools: [fn('f')] }] }, providers],
		['tool_choice.type', { tools: [{ type: 'web_search' }], tool_choice: { type: 'web_search' } }, providers],
		['tool_choice.type', { ...withTools, tool_choice: { type: 'mcp', server_label: 'a' } }, providers],
		['tool_choice', { tools: [{ type: 'web_search' }], tool_choice: 'required' }, providers],
		['tool_choice', { ...withTools, tool_choice: 'always' }, providers],
		['tool_choice.name', { ...withTools, tool_choice: { type: 'function', name: 'nosuch' } }, providers],
		['tool_choice.mode', { ...withTools, tool_choice: { type: 'allowed_tools', tools: [fn('f')] } }, providers],
		[
			'tool_choice.tools',
			{ ...withTools, tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'web_search' }] } },
			providers,
		],
	])('%s in %j', (param, request, by) => {
		for (const provider of by) expect(rejected(provider, request)).toBe(param);
	});
});

describe('tools', () => {
	const input = [
		{ type: 'additional_tools', role: 'developer', tools: [{ type: 'namespace', name: 'team', tools: [fn('spawn')] }] },
		{ role: 'user', content: 'Hi' },
	];

	test('of all places are functions with flat names, the last definition of each', () => {
		const parameters = { type: 'object', properties: { a: { type: 'string' } } };
		const tools = [fn('f'), fn('f', { parameters, strict: true }), { type: 'custom', name: 'patch', description: 'd' }];
		const search = { type: 'tool_search', execution: 'client', parameters };
		expect(sent('messages', { input, tools: [...tools, search] }).tools).toEqual([
			{ name: 'f', input_schema: { ...parameters, additionalProperties: false }, strict: true },
			{
				name: 'patch',
				description: 'd',
				input_schema: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'], additionalProperties: false },
			},
			{ name: 'tool_search', input_schema: parameters },
			{ name: 'team__spawn', input_schema: { type: 'object', properties: {} } },
		]);
	});

	test.each([
		{ type: 'function', name: 'spawn', namespace: 'team' },
		{ type: 'function', name: 'team__spawn' },
		{ type: 'function', name: 'spawn' },
	])('are chosen by %j', (tool_choice) => {
		expect(sent('messages', { input, tool_choice }).tool_choice).toEqual({ type: 'tool', name: 'team__spawn' });
	});

	test('with other hints are loaded', () => {
		const hints = { defer_loading: true, allowed_callers: ['x'], output_schema: {}, async: true };
		expect(fromResponses('gemini', { input: 'Hi', tools: [fn('f', hints)] }).warnings).toEqual([]);
	});
});
