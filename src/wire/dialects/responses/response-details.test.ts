/** Sources, log probabilities and service tiers of responses, between the Responses API and the other dialects. */

import { describe, expect, test } from 'vitest';
import { translateBytes } from '../../../../test/support/byte-translation.ts';
import type { ResponseContext, ResponseReading, ResponseWriting } from '../../conversation/response.ts';
import { translateResponses } from '../../conversation/translation.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { chatReading } from '../chat/response-reader.ts';
import { chatWriting } from '../chat/response-writer.ts';
import { geminiReading } from '../gemini/response-reader.ts';
import { messagesReading } from '../messages/response-reader.ts';
import { messagesWriting } from '../messages/response-writer.ts';
import { responsesReading } from './response-reader.ts';
import { responsesWriting } from './response-writer.ts';

const call: ResponseContext = { request: {}, model: 'alias', requestId: 'req_1', nowSeconds: 1_790_000_000 };

function translated(
	reading: ResponseReading,
	writing: ResponseWriting,
	body: JsonObject,
): { body: JsonObject; warnings: readonly string[] } {
	const warnings = new Set<string>();
	const response = translateResponses(reading, writing).translateResponse(body, { ...call, warn: (warning) => warnings.add(warning) });
	return { body: response, warnings: [...warnings] };
}

function streamed(reading: ResponseReading, writing: ResponseWriting, events: readonly JsonObject[], end = ''): JsonObject[] {
	const stream = translateBytes(translateResponses(reading, writing), call);
	const bytes = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('') + end;
	const text = Buffer.concat([stream.push(Buffer.from(bytes)), stream.end()]).toString();
	return [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data ?? '') as JsonObject);
}

const page = { url: 'https://example.com/a', title: 'A page' };
const token = { token: 'Hi', logprob: -0.25, bytes: [72, 105], top_logprobs: [{ token: 'Ho', logprob: -2, bytes: null }] };
const message = { role: 'assistant', content: 'Hi', refusal: null };
const completion = (more: JsonObject, top: JsonObject = {}): JsonObject => ({
	choices: [{ index: 0, message, finish_reason: 'stop', ...more }],
	...top,
});
const partsIn = (response: JsonObject): readonly JsonObject[] =>
	(response.output as readonly { content?: readonly JsonObject[] }[]).flatMap(({ content = [] }) => content);

describe('a chat completion for a client of the Responses API', () => {
	test('keeps its sources, log probabilities and service tier', () => {
		const annotations = [{ type: 'url_citation', url_citation: { ...page, start_index: 0, end_index: 2 } }];
		const given = completion({ message: { ...message, annotations }, logprobs: { content: [token] } }, { service_tier: 'flex' });
		const { body, warnings } = translated(chatReading, responsesWriting, given);
		const citation = { type: 'url_citation', ...page, start_index: 0, end_index: 2 };
		expect(partsIn(body)).toEqual([{ type: 'output_text', text: 'Hi', annotations: [citation], logprobs: [token] }]);
		expect([body.service_tier, warnings]).toEqual(['flex', []]);
	});

	test('names log probabilities of a `refusal` and other annotations as lost', () => {
		const given = completion({
			message: { role: 'assistant', content: null, refusal: 'No.', annotations: [{ type: 'file_citation' }] },
			logprobs: { content: null, refusal: [token] },
		});
		expect(translated(chatReading, responsesWriting, given).warnings).toEqual([
			'logprobs: dropped from the response',
			'citations: dropped from the response',
		]);
	});

	test('keeps them as a stream, in the order that clients require', () => {
		const chunk = (delta: JsonObject, more: JsonObject = {}): JsonObject => ({
			choices: [{ index: 0, delta, finish_reason: null, ...more }],
			service_tier: 'priority',
		});
		const annotations = [{ type: 'url_citation', url_citation: { ...page, start_index: 0, end_index: 2 } }];
		const events = streamed(
			chatReading,
			responsesWriting,
			[
				chunk({ content: 'Hi' }, { logprobs: { content: [token], refusal: null } }),
				chunk({ annotations }),
				chunk({}, { finish_reason: 'stop' }),
			],
			'data: [DONE]\n\n',
		);
		expect(events.map(({ type }) => String(type).replace('response.', ''))).toEqual([
			'created',
			'in_progress',
			'output_item.added',
			'content_part.added',
			'output_text.delta',
			'output_text.annotation.added',
			'output_text.done',
			'content_part.done',
			'output_item.done',
			'completed',
		]);
		expect(events[4]).toMatchObject({ delta: 'Hi', logprobs: [token] });
		expect(events[5]).toMatchObject({ content_index: 0, annotation_index: 0, annotation: { type: 'url_citation', ...page } });
		expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_event, at) => at));
		const { response } = events.at(-1) as { response: JsonObject };
		expect(partsIn(response)).toMatchObject([{ annotations: [page], logprobs: [token] }]);
		expect(response.service_tier).toBe('priority');
	});

	test('drops a source of a text that has ended', () => {
		const given = completion({
			message: {
				...message,
				content: '',
				annotations: [{ type: 'url_citation', url_citation: { ...page, start_index: 0, end_index: 2 } }],
			},
		});
		expect(translated(chatReading, responsesWriting, given).warnings).toEqual(['citations: dropped from the response']);
	});
});

const cited = { type: 'web_search_result_location', ...page, encrypted_index: 'E', cited_text: 'Source' };
const claude = (content: readonly JsonObject[], usage: JsonObject = {}): JsonObject => ({
	type: 'message',
	content,
	stop_reason: 'end_turn',
	usage: { input_tokens: 1, output_tokens: 2, ...usage },
});

describe('sources of Claude', () => {
	const content = [
		{ type: 'text', text: 'See 😀 ' },
		{ type: 'text', text: 'this.', citations: [cited] },
		{ type: 'text', text: ' More.', citations: null },
	];

	test('cover their text block, in characters', () => {
		const range = { start_index: 6, end_index: 11 };
		const chat = translated(messagesReading, chatWriting, claude(content));
		expect(chat.body).toMatchObject({
			choices: [{ message: { annotations: [{ type: 'url_citation', url_citation: { ...page, ...range } }] } }],
		});
		const { body, warnings } = translated(messagesReading, responsesWriting, claude(content));
		expect(partsIn(body)).toMatchObject([{ text: 'See 😀 this. More.', annotations: [{ type: 'url_citation', ...page, ...range }] }]);
		expect([chat.warnings, warnings]).toEqual([[], []]);
	});

	test('are the same in a stream', () => {
		const block = (index: number, text: string, citations: readonly JsonObject[]): JsonObject[] => [
			{ type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
			{ type: 'content_block_delta', index, delta: { type: 'text_delta', text } },
			...citations.map((citation) => ({ type: 'content_block_delta', index, delta: { type: 'citations_delta', citation } })),
			{ type: 'content_block_stop', index },
		];
		const events = [
			{ type: 'message_start', message: { id: 'msg_1', usage: { input_tokens: 1, output_tokens: 1, service_tier: 'priority' } } },
			...block(0, 'See ', []),
			...block(1, 'this.', [cited, { type: 'char_location' }]),
			{ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
			{ type: 'message_stop' },
		];
		const chunks = streamed(messagesReading, chatWriting, events);
		const annotated = chunks.flatMap(({ choices }) =>
			(choices as readonly { delta?: JsonObject }[]).flatMap(({ delta }) => delta?.annotations ?? []),
		);
		expect(annotated).toEqual([{ type: 'url_citation', url_citation: { ...page, start_index: 4, end_index: 9 } }]);
		expect(chunks.at(-1)?.service_tier).toBe('priority');
	});

	test.each(['char_location', 'page_location', 'search_result_location'])('other than web pages are lost: %s', (type) => {
		const given = claude([{ type: 'text', text: 'x', citations: [{ type, cited_text: 'x' }] }]);
		for (const writing of [chatWriting, responsesWriting]) {
			expect(translated(messagesReading, writing, given).warnings).toEqual(['citations: dropped from the response']);
		}
	});
});

test.each([
	{ citationMetadata: { citationSources: [{ startIndex: 0, endIndex: 2, uri: page.url }] } },
	{ groundingMetadata: { groundingChunks: [{ web: { uri: page.url } }], groundingSupports: [{ segment: { endIndex: 2 } }] } },
])('sources of Gemini are lost: %j', (sources) => {
	const given = { candidates: [{ content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP', ...sources }] };
	for (const writing of [chatWriting, messagesWriting, responsesWriting]) {
		expect(translated(geminiReading, writing, given).warnings).toEqual(['citations: dropped from the response']);
	}
});

describe('the service tier', () => {
	test.each([
		['standard', 'default'],
		['priority', 'priority'],
		['batch', undefined],
	])('%s of Claude is %s for clients of OpenAI’s formats', (tier, expected) => {
		const given = claude([{ type: 'text', text: 'x' }], { service_tier: tier });
		expect(translated(messagesReading, chatWriting, given).body.service_tier).toBe(expected);
		expect(translated(messagesReading, responsesWriting, given).body.service_tier).toBe(expected ?? 'default');
	});

	test.each([
		['default', 'standard'],
		['priority', 'priority'],
		['flex', undefined],
	])('%s of OpenAI is %s for clients of messages', (tier, expected) => {
		const { body } = translated(
			chatReading,
			messagesWriting,
			completion({}, { service_tier: tier, usage: { prompt_tokens: 1, completion_tokens: 1 } }),
		);
		expect((body.usage as JsonObject).service_tier).toBe(expected);
	});
});

test('a call of a tool that the request does not offer is forwarded with a warning', () => {
	const given = {
		status: 'completed',
		output: [{ type: 'function_call', call_id: 'c', name: 'multi_tool_use.parallel', arguments: '{}' }],
	};
	const { body, warnings } = translated(responsesReading, chatWriting, given);
	expect(body).toMatchObject({ choices: [{ message: { tool_calls: [{ function: { name: 'multi_tool_use.parallel' } }] } }] });
	expect(warnings).toEqual(['tools: the model called a tool that the request does not offer']);
});
