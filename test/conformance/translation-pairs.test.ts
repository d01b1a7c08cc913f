/** Each client format on a provider of each dialect: long conversations, and equal non-streaming and streaming responses. */

import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import { unknownGeminiFields } from '../support/gemini-wire-fields.ts';
import { unknownWireFields } from '../support/messages-wire-fields.ts';
import { anthropicLines, openAiLines } from '../support/sdk-lines.ts';
import { compatibleGemini } from './compatible-providers.ts';
import { openAnthropic, openOpenAi } from './open-sdk.ts';
import { describeOwn, useSubject } from './subject.ts';

const chatModels = [
	'gpt-5-pro',
	'claude-sonnet-4-5',
	'claude-opus-4-8',
	'gemini-2.5-flash',
	'gemini-3-pro-preview',
	'compat/gemini-3-pro-preview',
];
const messagesModels = [
	'gpt-5-pro',
	'gpt-4o-mini',
	'gpt-5',
	'team-deployment',
	'gemini-2.5-flash',
	'gemini-3-pro-preview',
	'compat/gemini-3-pro-preview',
];

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const schema = { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] };
const question = 'What is the weather in Paris and Rome?';
/** Number of turns, each with a question, two tool calls, their results and a reply. */
const turns = 10;

describeOwn('every pair of formats', 'our simulator', () => {
	const subject = useSubject((simulatorUrl) => ({ providers: { compat: compatibleGemini(simulatorUrl) } }));

	beforeAll(async () => subject.current.simulator.change({ record_bodies: true, interval_ms: 0, first_byte_ms: 0 }));

	/** Returns the bodies of the requests that the provider accepted, oldest first. */
	const sentBodies = async (): Promise<string[]> => {
		const rows = await subject.current.simulator.requests('?limit=50');
		return rows.map(({ body = '' }) => body).toReversed();
	};

	describe.each(chatModels)('a client of chat completions on %s', (model) => {
		const tools: OpenAI.ChatCompletionTool[] = [{ type: 'function', function: { name: 'get_weather', parameters: schema } }];

		it.each(openAiLines)('%s: streaming and non-streaming responses are equal', async (_name, Sdk) => {
			const client = await openOpenAi(Sdk, subject.current);
			for (const content of ['Say hello.', question]) {
				const ask = { model, messages: [{ role: 'user' as const, content }], tools };
				const whole = await client.chat.completions.create(ask);
				const streamed = await client.chat.completions.stream({ ...ask, stream_options: { include_usage: true } }).finalChatCompletion();
				expect(shapeOfChat(streamed)).toEqual(shapeOfChat(whole));
			}
		});

		it('holds a conversation of ten turns with parallel tools, their errors, images and thinking', async () => {
			const [[, Sdk] = []] = openAiLines;
			if (Sdk === undefined) throw new Error('no SDK');
			const client = await openOpenAi(Sdk, subject.current);
			const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'system', content: 'Be brief.' }];
			const say = async (): Promise<OpenAI.ChatCompletionMessage> => {
				const ask = { model, messages, tools, reasoning_effort: 'low' as const, max_completion_tokens: 4000 };
				const isStreaming = messages.length % 2 === 0;
				const completion = isStreaming
					? await client.chat.completions.stream(ask).finalChatCompletion()
					: await client.chat.completions.create(ask);
				const message = completion.choices[0]?.message;
				if (message === undefined) throw new Error('no answer');
				messages.push(message);
				return message;
			};
			for (let turn = 0; turn < turns; turn++) {
				messages.push({ role: 'user', content: question });
				const calls = (await say()).tool_calls ?? [];
				expect(calls.map((call): unknown => call.type === 'function' && JSON.parse(call.function.arguments))).toEqual([
					{ city: 'Paris' },
					{ city: 'Rome' },
				]);
				expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
				for (const [index, { id }] of calls.toReversed().entries()) {
					messages.push({ role: 'tool', tool_call_id: id, content: index === 0 ? 'Error: no such city' : '21 degrees' });
				}
				messages.push({
					role: 'user',
					content: [
						{ type: 'text', text: 'The map:' },
						{ type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
					],
				});
				expect((await say()).content).toEqual(expect.stringMatching(/./));
			}
			const [last = ''] = (await sentBodies()).slice(-1);
			expect(last).not.toContain('skip_thought_signature_validator');
			expectKnownFields(model, last);
			expect(last.match(/21 degrees/g)?.length ?? 0).toBeGreaterThanOrEqual(turns);
		});
	});

	describe.each(messagesModels)('a client of messages on %s', (model) => {
		const tools: Anthropic.Tool[] = [{ name: 'get_weather', input_schema: schema }];

		it.each(anthropicLines)('%s: streaming and non-streaming responses are equal', async (_name, Sdk, credential) => {
			const client = await openAnthropic(Sdk, credential, subject.current);
			for (const content of ['Say hello.', question]) {
				const ask = { model, max_tokens: 2000, messages: [{ role: 'user' as const, content }], tools };
				const whole = await client.messages.create(ask);
				const streamed = await client.messages.stream(ask).finalMessage();
				expect(shapeOfMessage(streamed)).toEqual(shapeOfMessage(whole));
			}
		});

		it('holds a conversation of ten turns with parallel tools, their errors, images from tools and thinking', async () => {
			const [[, Sdk, credential] = []] = anthropicLines;
			if (Sdk === undefined || credential === undefined) throw new Error('no SDK');
			const client = await openAnthropic(Sdk, credential, subject.current);
			const messages: Anthropic.MessageParam[] = [];
			const say = async (): Promise<Anthropic.Message> => {
				const ask = {
					model,
					max_tokens: 4000,
					system: 'Be brief.',
					messages,
					tools,
					thinking: { type: 'enabled' as const, budget_tokens: 1024 },
				};
				const message = messages.length % 4 === 1 ? await client.messages.stream(ask).finalMessage() : await client.messages.create(ask);
				messages.push({ role: 'assistant', content: message.content });
				return message;
			};
			for (let turn = 0; turn < turns; turn++) {
				messages.push({ role: 'user', content: question });
				const uses = (await say()).content.filter((block) => block.type === 'tool_use');
				expect(uses.map(({ input }) => input)).toEqual([{ city: 'Paris' }, { city: 'Rome' }]);
				const image = { type: 'image' as const, source: { type: 'base64' as const, media_type: 'image/png' as const, data: png } };
				const results: Anthropic.ToolResultBlockParam[] = uses.map(({ id }, index) => ({
					type: 'tool_result',
					tool_use_id: id,
					is_error: index === 0,
					content: index === 0 ? 'no such city' : [{ type: 'text', text: '21 degrees' }, image],
				}));
				messages.push({ role: 'user', content: [...results.toReversed(), { type: 'text', text: 'And?' }] });
				expect((await say()).content.some((block) => block.type === 'text' && block.text !== '')).toBe(true);
			}
			const [last = ''] = (await sentBodies()).slice(-1);
			expect(last).not.toContain('skip_thought_signature_validator');
			expectKnownFields(model, last);
			expect(last.match(/21 degrees/g)?.length ?? 0).toBeGreaterThanOrEqual(turns);
		});
	});
});

/** Checks the other dialects: for chat completions the simulator rejects unknown fields as the vendor does. */
function expectKnownFields(model: string, body: string): void {
	const sent = JSON.parse(body) as Record<string, unknown>;
	if (model.startsWith('claude')) expect(unknownWireFields(sent)).toEqual([]);
	if (model.startsWith('gemini')) expect(unknownGeminiFields(sent)).toEqual([]);
}

/** Selects the fields that do not depend on streaming; ids differ each time. */
function shapeOfChat({ choices, usage, model }: OpenAI.ChatCompletion): unknown {
	return {
		model,
		usage,
		choices: choices.map(({ message, finish_reason }) => ({
			finish_reason,
			content: message.content ?? '',
			calls: message.tool_calls?.map((call) => call.type === 'function' && [call.function.name, JSON.parse(call.function.arguments)]) ?? [],
		})),
	};
}

function shapeOfMessage({ content, stop_reason, usage, model }: Anthropic.Message): unknown {
	return {
		model,
		stop_reason,
		usage: [usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens],
		content: content.map((block) => (block.type === 'tool_use' ? [block.name, block.input] : block)),
	};
}
