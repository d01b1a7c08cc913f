import { describe, expect, test } from 'vitest';
import { samples } from '../../test/support/translations.ts';
import type { ClientDialectName, ConversationDialectName } from '../core/dialect-name.ts';
import type { JsonObject } from './json/parse-body.ts';
import { anthropic } from './providers/anthropic.ts';
import { gemini, geminiOpenai } from './providers/gemini.ts';
import { openai } from './providers/openai.ts';
import { dialectAt, translateRequest } from './translate.ts';

function translated(client: ClientDialectName, provider: ConversationDialectName, request: JsonObject): JsonObject {
	return translateRequest(
		client,
		provider,
		{ max_tokens: 9, ...request },
		{ model: samples[provider].models[0], maxOutputTokens: undefined },
	).body;
}

test('a provider receives conversations in the client’s dialect if it serves that, else in its own', () => {
	expect([dialectAt(openai, 'chat'), dialectAt(openai, 'messages'), dialectAt(anthropic, 'messages')]).toEqual([
		'chat',
		'chat',
		'messages',
	]);
	expect([dialectAt(gemini, 'chat'), dialectAt(geminiOpenai, 'chat')]).toEqual(['gemini', 'gemini-openai']);
	expect([dialectAt(anthropic, 'chat', 'chat'), dialectAt(anthropic, 'chat', 'messages')]).toEqual(['messages', 'messages']);
});

test('a variant of the client’s dialect keeps unknown fields, in their place', () => {
	const request = { brand_new: { a: 1 }, model: 'alias', messages: [{ role: 'user', content: 'Hi', odd: true }] };
	const body = translated('chat', 'gemini-openai', request);
	expect(JSON.stringify(body)).toBe(
		'{"max_tokens":9,"brand_new":{"a":1},"model":"gemini-2.5-pro","messages":[{"role":"user","content":"Hi","odd":true}]}',
	);
});

describe('consecutive messages of one role are one turn of the messages dialect, for every provider', () => {
	const use = (id: string): JsonObject => ({ type: 'tool_use', id, name: 'f', input: {} });
	const result = (id: string): JsonObject => ({ type: 'tool_result', tool_use_id: id, content: id });
	const messages = [
		{ role: 'user', content: ' ' },
		{ role: 'user', content: 'Go' },
		{ role: 'assistant', content: [use('a')] },
		{ role: 'assistant', content: [use('b')] },
		{ role: 'user', content: [result('b')] },
		{ role: 'user', content: [result('a'), { type: 'text', text: 'And?' }] },
	];

	test('chat completions', () => {
		const call = (id: string): JsonObject => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } });
		expect(translated('messages', 'chat', { messages }).messages).toEqual([
			{ role: 'user', content: 'Go' },
			{ role: 'assistant', content: null, tool_calls: [call('a'), call('b')] },
			{ role: 'tool', tool_call_id: 'b', content: 'b' },
			{ role: 'tool', tool_call_id: 'a', content: 'a' },
			{ role: 'user', content: 'And?' },
		]);
	});

	test('Gemini', () => {
		const response = (id: string): JsonObject => ({ functionResponse: { id, name: 'f', response: { result: id } } });
		expect(translated('messages', 'gemini', { messages }).contents).toEqual([
			{ role: 'user', parts: [{ text: 'Go' }] },
			{ role: 'model', parts: [{ functionCall: { id: 'a', name: 'f', args: {} } }, { functionCall: { id: 'b', name: 'f', args: {} } }] },
			{ role: 'user', parts: [response('a'), response('b')] },
			{ role: 'user', parts: [{ text: 'And?' }] },
		]);
	});
});

test('a mistyped result is rejected for its type, not its call for a missing result', () => {
	const messages = [
		{ role: 'user', content: 'Hi' },
		{ role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] },
		{ role: 'user', content: [{ type: 'tool_results', tool_use_id: 'a' }] },
	];
	expect(() => translated('messages', 'chat', { messages })).toThrow('`messages[2].content[0].type` has no equivalent');
});

test.each<[ClientDialectName, ConversationDialectName]>([
	['chat', 'messages'],
	['chat', 'gemini'],
	['messages', 'chat'],
	['messages', 'gemini'],
	['messages', 'gemini-openai'],
])('%s to %s: a result without its call is rejected in the client’s own terms', (client, provider) => {
	const tool = { role: 'tool', tool_call_id: 'x', content: '' };
	const results = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x' }] };
	const messages = [{ role: 'user', content: 'Hi' }, client === 'chat' ? tool : results];
	const expected =
		client === 'chat'
			? '`messages[1].tool_call_id` does not match a tool call of the previous assistant message: send each result directly after its call'
			: '`messages[1].content[0].tool_use_id` must be the id of a `tool_use` in the previous assistant message, with one result';
	expect(() => translated(client, provider, { messages })).toThrow(expected);
});
