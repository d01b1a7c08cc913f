/** Tests tool loops: after the results of parallel calls, the final text quotes each of them, in every wire dialect. */
import { expect, test } from 'vitest';
import { askSimulator } from '../test/support/ask-simulator.ts';

const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const question = 'What is the weather in Boston and Paris?';
const chatTools = [{ type: 'function', function: { name: 'get_weather', parameters: schema } }];
const chatCalls = ['one', 'two'].map((id) => ({ id, type: 'function', function: { name: 'get_weather', arguments: '{}' } }));
const chat = {
	messages: [
		{ role: 'user', content: question },
		{ role: 'assistant', content: null, tool_calls: chatCalls },
		{ role: 'tool', tool_call_id: 'one', content: '11 degrees' },
		{ role: 'tool', tool_call_id: 'two', content: [{ type: 'text', text: '22 degrees' }] },
	],
	tools: chatTools,
};

const loops: readonly (readonly [string, string, object])[] = [
	['OpenAI', '/openai/v1/chat/completions', { model: 'gpt-4o', ...chat }],
	['Azure', '/azure/openai/v1/chat/completions', { model: 'mine', ...chat }],
	['Gemini in OpenAI’s format', '/gemini/v1beta/openai/chat/completions', { model: 'gemini-2.5-flash', ...chat }],
	[
		'Anthropic',
		'/anthropic/v1/messages',
		{
			model: 'claude-haiku-4-5',
			max_tokens: 200,
			tools: [{ name: 'get_weather', input_schema: schema }],
			messages: [
				{ role: 'user', content: question },
				{ role: 'assistant', content: ['one', 'two'].map((id) => ({ type: 'tool_use', id, name: 'get_weather', input: {} })) },
				{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'one', content: '11 degrees' }] },
				{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'two', content: [{ type: 'text', text: '22 degrees' }] }] },
			],
		},
	],
	[
		'Gemini',
		'/gemini/v1beta/models/gemini-2.5-flash:generateContent',
		{
			tools: [{ functionDeclarations: [{ name: 'get_weather', parametersJsonSchema: schema }] }],
			contents: [
				{ role: 'user', parts: [{ text: question }] },
				{ role: 'model', parts: [1, 2].map(() => ({ functionCall: { name: 'get_weather', args: {} } })) },
				{
					role: 'user',
					parts: ['11 degrees', '22 degrees'].map((result) => ({ functionResponse: { name: 'get_weather', response: { result } } })),
				},
			],
		},
	],
];

test.each(loops)('%s', async (_wire, path, body) => {
	const text = await askSimulator(path, body);
	expect(text).toContain('11 degrees');
	expect(text).toContain('22 degrees');
	expect(text, 'no further call').not.toMatch(/"(?:tool_calls|tool_use|functionCall)"/);
});

test('text that an agent adds to a question is no part of it', async () => {
	const reminder = { type: 'text', text: '<system-reminder>\nThe weather tool is there.\n</system-reminder>\n' };
	const tools = [{ name: 'get_weather', input_schema: schema }];
	const messages = [{ role: 'user', content: [reminder, { type: 'text', text: 'Hello there' }] }];
	const text = await askSimulator('/anthropic/v1/messages', { model: 'claude-haiku-4-5', max_tokens: 200, tools, messages });
	expect(text).toContain('You wrote: Hello there');
	expect(text).not.toContain('tool_use"');
});
