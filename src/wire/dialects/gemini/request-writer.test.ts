import { describe, expect, test } from 'vitest';
import type { ClientDialectName } from '../../../core/dialect-name.ts';
import { Rejection } from '../../../core/rejection.ts';
import type { ModelCapabilities } from '../../conversation/model-capabilities.ts';
import type { TranslationTarget } from '../../conversation/request-translation.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { translateRequest } from '../../translate.ts';
import { geminiModel } from './model.ts';

const target: TranslationTarget = { model: 'gemini-3-pro-preview', maxOutputTokens: 1000 };
const user = { role: 'user', content: 'Hi' };

function rejectionOf(client: ClientDialectName, request: JsonObject): unknown {
	try {
		translateRequest(client, 'gemini', { messages: [user], max_tokens: 9, ...request }, target);
	} catch (cause) {
		if (cause instanceof Rejection) return [cause.code, cause.param];
		throw cause;
	}
	return 'taken';
}

const time = { type: 'function', function: { name: 'get_time' } };
const part = (one: JsonObject): JsonObject => ({ messages: [{ role: 'user', content: [one] }] });
const image = (url: unknown): JsonObject => part({ type: 'image_url', image_url: { url } });
const call = { role: 'assistant', tool_calls: [{ id: 'a', type: 'function', function: { name: 'get_time', arguments: '{}' } }] };

test.each<[param: string, request: JsonObject]>([
	['n', { n: 9 }],
	['logprobs', { logprobs: true }],
	['logit_bias', { logit_bias: { 5: 1 } }],
	['modalities', { modalities: ['audio'] }],
	['web_search_options', { web_search_options: {} }],
	['stop', { stop: ['1', '2', '3', '4', '5', '6'] }],
	['stop[0]', { stop: [1] }],
	['seed', { seed: 'x' }],
	['max_tokens', { max_tokens: 1.5 }],
	['tools[0].type', { tools: [{ type: 'custom' }] }],
	['tool_choice', { tools: [time], tool_choice: { type: 'function', function: { name: 'other' } } }],
	['reasoning_effort', { reasoning_effort: 'heroic' }],
	['response_format.type', { response_format: { type: 'xml' } }],
	['response_format.json_schema.schema', { response_format: { type: 'json_schema' } }],
	['messages', { messages: [{ role: 'system', content: 'Be brief.' }] }],
	['messages[0].role', { messages: [{ role: 'critic', content: 'x' }] }],
	['messages[0].content', { messages: [{ role: 'user', content: ' ' }] }],
	['messages[0].content', { messages: [{ role: 'system', content: [{ type: 'image_url', image_url: { url: 'https://x' } }] }, user] }],
	['messages[0].content[0].type', part({ type: 'video' })],
	['messages[0].content[0].image_url.url', image('data:image/svg+xml;base64,PHN2Zz4=')],
	['messages[0].content[0].image_url.url', image('data:text/plain;base64,SGk=')],
	['messages[0].content[0].image_url.url', image('file:///etc/passwd')],
	['messages[0].content[0].image_url.url', image(5)],
	['messages[0].content[0].input_audio.format', part({ type: 'input_audio', input_audio: { data: '', format: 'midi' } })],
	['messages[0].content[0].file', part({ type: 'file', file: { file_id: 'file-1' } })],
	['messages[0].content[0].file.file_data', part({ type: 'file', file: { file_data: 'data:application/zip;base64,UEs=' } })],
	['messages[1].tool_call_id', { messages: [user, { role: 'tool', tool_call_id: 'x', content: '' }] }],
	['messages[1].tool_calls[0]', { messages: [user, call, user] }],
	[
		'messages[3].tool_call_id',
		{ messages: [user, call, { role: 'tool', tool_call_id: 'a', content: '' }, { role: 'tool', tool_call_id: 'a', content: '' }] },
	],
	[
		'messages[1].tool_calls[0].function.arguments',
		{ messages: [user, { role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'f', arguments: '[' } }] }] },
	],
	['messages[1].tool_calls[1].id', { messages: [user, { role: 'assistant', tool_calls: [call.tool_calls[0], call.tool_calls[0]] }] }],
])('chat completions: %s', (param, request) => {
	expect(rejectionOf('chat', request)).toEqual(['field_invalid', param]);
});

const block = (one: JsonObject): JsonObject => ({ messages: [{ role: 'user', content: [one] }] });
const use = { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] };

test.each<[param: string, request: JsonObject]>([
	['max_tokens', { max_tokens: 0 }],
	['stop_sequences', { stop_sequences: ['1', '2', '3', '4', '5', '6'] }],
	['stop_sequences[1]', { stop_sequences: ['1', ' '] }],
	['mcp_servers', { mcp_servers: [{}] }],
	['tools[0].type', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
	['tools[0].input_schema', { tools: [{ name: 'x' }] }],
	['tool_choice.type', { tools: [{ name: 'x', input_schema: {} }], tool_choice: { type: 'some' } }],
	['output_config.format.type', { output_config: { format: { type: 'xml' } } }],
	['system[0].type', { system: [{ type: 'image' }] }],
	['messages[0].role', { messages: [{ role: 'critic', content: 'x' }] }],
	['messages[0].content', { messages: [{ role: 'user', content: '' }] }],
	['messages[0].content[0].type', block({ type: 'container_upload' })],
	['messages[0].content[0].source.type', block({ type: 'image', source: { type: 'file', file_id: 'f' } })],
	[
		'messages[0].content[0].source.media_type',
		block({ type: 'image', source: { type: 'base64', media_type: 'application/pdf', data: '' } }),
	],
	['messages[0].content[0].source.media_type', block({ type: 'document', source: { type: 'base64', media_type: 'image/png', data: '' } })],
	['messages[0].content[0].tool_use_id', block({ type: 'tool_result', tool_use_id: 'x' })],
	['messages[1].content[0].id', { messages: [user, use, user] }],
	[
		'messages[1].content[0].input',
		{ messages: [user, { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: 5 }] }] },
	],
	['messages[1].content[1].id', { messages: [user, { role: 'assistant', content: [...use.content, ...use.content] }] }],
])('messages: %s', (param, request) => {
	expect(rejectionOf('messages', request)).toEqual(['field_invalid', param]);
});

test.each([
	['gemini-2.0-flash', { thinking: 'none', needsSignatures: false }],
	['gemini-2.5-flash', { thinking: 'budget', minBudget: 1, maxBudget: 24_576, canDisableThinking: true }],
	['gemini-2.5-flash-lite', { thinking: 'budget', minBudget: 512, canDisableThinking: true }],
	['models/gemini-2.5-pro', { thinking: 'budget', minBudget: 128, maxBudget: 32_768, canDisableThinking: false }],
	['gemini-3-pro-preview', { thinking: 'level', levels: ['low', 'high'], needsSignatures: true }],
	['gemini-3.1-pro-preview', { thinking: 'level', levels: ['low', 'medium', 'high'] }],
	['gemini-3-flash-preview', { thinking: 'level', levels: ['minimal', 'low', 'medium', 'high'] }],
	['gemini-flash-latest', { thinking: 'level', needsSignatures: true }],
	['gemma-3-27b-it', { thinking: 'none', needsSignatures: false }],
])('%s', (name, expected) => {
	expect(geminiModel(name)).toMatchObject(expected);
});

describe('thinking', () => {
	const requested = (model: string, request: JsonObject, client: ClientDialectName = 'chat', record: ModelCapabilities = {}): unknown[] => {
		const { body, warnings } = translateRequest(
			client,
			'gemini',
			{ messages: [user], max_tokens: 9, ...request },
			{ ...target, ...record, model, maxOutputTokens: target.maxOutputTokens },
		);
		return [(body['generationConfig'] as JsonObject)['thinkingConfig'], ...warnings];
	};
	test.each([
		['gemini-2.5-flash', 'none', { thinkingBudget: 0 }],
		['gemini-2.5-flash', 'minimal', { thinkingBudget: 1024, includeThoughts: true }],
		['gemini-2.5-flash', 'max', { thinkingBudget: 24_576, includeThoughts: true }],
		['gemini-3-flash-preview', 'minimal', { thinkingLevel: 'minimal', includeThoughts: true }],
		[
			'gemini-3-flash-preview',
			'none',
			{ thinkingLevel: 'minimal' },
			'reasoning_effort: sent as minimal, the nearest value that the model accepts',
		],
		[
			'gemini-3-pro-preview',
			'medium',
			{ thinkingLevel: 'low', includeThoughts: true },
			'reasoning_effort: sent as low, the nearest value that the model accepts',
		],
		[
			'gemini-3-pro-preview',
			'xhigh',
			{ thinkingLevel: 'high', includeThoughts: true },
			'reasoning_effort: sent as high, the nearest value that the model accepts',
		],
		['gemini-2.0-flash', 'high', undefined, 'reasoning_effort: ignored because the model does not reason'],
		['gemini-2.0-flash', 'none', undefined],
	])('%s, effort %s', (model, effort, ...expected) => {
		expect(requested(model, { reasoning_effort: effort })).toEqual(expected);
	});

	test.each([
		[
			'gemini-2.5-flash',
			{ thinking: { type: 'enabled', budget_tokens: 90_000 } },
			{ thinkingBudget: 24_576, includeThoughts: true },
			'thinking: sent as 24576 tokens, the nearest value that the model accepts',
		],
		['gemini-2.5-pro', { thinking: { type: 'adaptive', display: 'omitted' } }, undefined],
		['gemini-3-pro-preview', { thinking: { type: 'enabled', budget_tokens: 2000 } }, { thinkingLevel: 'low', includeThoughts: true }],
		['gemini-3-pro-preview', { thinking: { type: 'adaptive' } }, { includeThoughts: true }],
		['gemini-3-pro-preview', { output_config: { effort: 'high' } }, { thinkingLevel: 'high' }],
	])('%s, %j', (model, request, ...expected) => {
		expect(requested(model, request, 'messages')).toEqual(expected);
	});

	test('follows the configured facts about the model', () => {
		expect(requested('our-model', { reasoning_effort: 'high' }, 'chat', { thinking: 'none' })[0]).toBeUndefined();
		expect(requested('our-model', { reasoning_effort: 'medium' }, 'chat', { thinking: 'adaptive', efforts: ['low', 'medium'] })).toEqual([
			{ thinkingLevel: 'medium', includeThoughts: true },
		]);
		const named = translateRequest(
			'chat',
			'gemini',
			{ messages: [user], reasoning_effort: 'none' },
			{ ...target, model: 'free-name', knownAs: 'gemini-2.5-flash' },
		);
		expect(named.body).toMatchObject({ generationConfig: { thinkingConfig: { thinkingBudget: 0 } } });
	});
});

describe('signatures', () => {
	const signed = { ...call.tool_calls[0], extra_content: { google: { thought_signature: 'c2ln' } } };
	const result = { role: 'tool', tool_call_id: 'a', content: '' };
	const sent = (model: string, toolCall: JsonObject | undefined): [unknown, readonly string[]] => {
		const messages = [user, { role: 'assistant', tool_calls: [toolCall] }, result];
		const { body, warnings } = translateRequest('chat', 'gemini', { messages }, { ...target, model });
		return [(body['contents'] as { parts: JsonObject[] }[])[1]?.parts[0]?.['thoughtSignature'], warnings];
	};

	test('are sent back unchanged', () => {
		expect(sent('gemini-3-pro-preview', signed)).toEqual(['c2ln', []]);
		expect(sent('gemini-2.5-pro', signed)).toEqual(['c2ln', []]);
	});

	test('are never made up: a call without one says so if the model requires one', () => {
		expect(sent('gemini-2.5-pro', call.tool_calls[0])).toEqual([undefined, []]);
		const [marker, warnings] = sent('gemini-3-pro-preview', call.tool_calls[0]);
		expect([marker, warnings]).toEqual([
			'skip_thought_signature_validator',
			['messages: tool calls without their thought signature are marked as such'],
		]);
	});
});
