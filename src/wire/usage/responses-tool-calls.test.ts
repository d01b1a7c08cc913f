import { describe, expect, it } from 'vitest';
import { readRecordings } from '../../../test/support/recordings.ts';
import { EventBatch } from '../events/event-batch.ts';
import type { JsonObject } from '../json/parse-body.ts';
import { responsesToolCalls } from './responses-tool-calls.ts';
import { type MeteredUsage, meterResponse, readReportedUsage, UsageMeter } from './usage-meter.ts';
import { responsesUsage } from './usage-reader.ts';

const search = { type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'x' } };
const page = { type: 'web_search_call', status: 'completed', action: { type: 'open_page' } };
const container = (container_id: string): JsonObject => ({ type: 'code_interpreter_call', container_id });

describe('calls of hosted tools in a response', () => {
	it.each<[string, JsonObject, object | undefined]>([
		['none', { output: [{ type: 'message' }] }, undefined],
		['searches, not the pages that they open', { output: [search, page, search] }, { web_search: 2 }],
		['failed ones', { output: [{ ...search, status: 'failed' }] }, undefined],
		['a search without an action', { output: [{ type: 'web_search_call' }] }, { web_search: 1 }],
		['the reported number', { output: [search], tool_usage: { web_search: { num_requests: 3 } } }, { web_search: 3 }],
		['a reported zero', { output: [search], tool_usage: { web_search: { num_requests: 0 } } }, undefined],
		['an implausible number', { output: [search], tool_usage: { web_search: { num_requests: -1 } } }, { web_search: 1 }],
		['containers, once each', { output: [container('a'), container('a'), container('b')] }, { code_interpreter: 2 }],
		[
			'files and images in a terminal event',
			{ type: 'response.completed', response: { output: [{ type: 'file_search_call' }, { type: 'image_generation_call' }] } },
			{ file_search: 1, image_generation: 1 },
		],
		['values of other types', { output: [null, 1, [], { type: 1 }], tool_usage: [] }, undefined],
	])('%s', (_name, reported, expected) => {
		expect(responsesToolCalls.count(reported, [])).toEqual(expected);
	});

	it('of recorded responses', () => {
		const counted = readRecordings('responses').flatMap(({ name, response }) => {
			const calls = response.json === undefined ? undefined : responsesToolCalls.count(response.json as JsonObject, []);
			return calls === undefined ? [] : [[name, calls] as const];
		});
		expect(Object.fromEntries(counted)).toEqual({
			'responses/v-code-interpreter.json': { code_interpreter: 1 },
			'responses/v-web-search.json': { web_search: 1 },
		});
	});
});

describe('calls of hosted tools in a stream', () => {
	const done = (item: JsonObject): JsonObject => ({ type: 'response.output_item.done', item });
	const finished = [done(search), done(page), done({ type: 'message', content: [] }), done({ ...search, status: 'failed' })];
	const end = { type: 'response.completed', response: { output: [], usage: { input_tokens: 9, output_tokens: 3 } } };
	const meter = (events: readonly JsonObject[], hasHostedTools = true): MeteredUsage => {
		const usageMeter = new UsageMeter(responsesUsage, { estimatedInputTokens: 5, isUsageInjected: false, hasHostedTools });
		usageMeter.push(EventBatch.ofTexts(events.map((event) => `data: ${JSON.stringify(event)}\n\n`)));
		return usageMeter.read();
	};

	it('are charged if the stream is cut', () => {
		expect(meter([...finished, done(search)])).toMatchObject({
			usage: { inputTokens: 5, toolCalls: { web_search: 2 } },
			isEstimated: true,
		});
	});

	it('are charged if the last event lists no items', () => {
		expect(meter([...finished, end])).toMatchObject({ usage: { inputTokens: 9, toolCalls: { web_search: 1 } }, isEstimated: false });
	});

	it('are not charged twice, nor beyond the reported number', () => {
		const listed = { ...end, response: { ...end.response, output: [search] } };
		expect(meter([...finished, listed]).usage.toolCalls).toEqual({ web_search: 1 });
		const reported = { ...end, response: { ...end.response, tool_usage: { web_search: { num_requests: 0 } } } };
		expect(meter([...finished, reported]).usage.toolCalls).toBeUndefined();
	});

	it('are not read for requests that offer none', () => {
		expect(meter(finished, false).usage.toolCalls).toBeUndefined();
	});
});

it('calls of hosted tools in a response without usage are charged', () => {
	const body = Buffer.from(JSON.stringify({ output: [search] }));
	const { usage } = readReportedUsage(body, responsesUsage, true);
	expect(meterResponse(body, usage, responsesUsage, 5)).toMatchObject({
		usage: { inputTokens: 5, toolCalls: { web_search: 1 } },
		isEstimated: true,
	});
});
