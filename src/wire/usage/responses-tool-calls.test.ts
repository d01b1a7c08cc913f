import { describe, expect, it } from 'vitest';
import { readRecordings } from '../../../test/support/recordings.ts';
import type { JsonObject } from '../json/parse-body.ts';
import { toolCallsOfResponse } from './responses-tool-calls.ts';

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
		expect(toolCallsOfResponse(reported)).toEqual(expected);
	});

	it('of recorded responses', () => {
		const counted = readRecordings('responses').flatMap(({ name, response }) => {
			const calls = response.json === undefined ? undefined : toolCallsOfResponse(response.json as JsonObject);
			return calls === undefined ? [] : [[name, calls] as const];
		});
		expect(Object.fromEntries(counted)).toEqual({
			'responses/v-code-interpreter.json': { code_interpreter: 1 },
			'responses/v-web-search.json': { web_search: 1 },
		});
	});
});
