/** Guardrails read every text of requests and responses at `/v1/responses`, streaming and non-streaming. */
import { describe, expect, test } from 'vitest';
import {
	GatewayBench,
	HandStream,
	jsonResponse,
	readStream,
	sentText,
	settle,
	sseResponse,
	summaryOf,
	textOf,
} from '../../../test/support/gateway-bench.ts';
import { guardrailsWith, piiRules } from '../../../test/support/guarded-gateway.ts';
import { readRecordings, recordedBytes } from '../../../test/support/recordings.ts';
import { isByteStream, streamOf } from '../../core/byte-stream.ts';
import type { HttpResponse } from '../../core/handler.ts';
import type { JsonObject } from '../../wire/json/parse-body.ts';

const path = '/v1/responses';
const word = 'darkfish';
const base64 = Buffer.from(`a ${word}`).toString('base64');
const call = { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' };
const output = { type: 'function_call_output', call_id: 'c1', output: 'x' };
const custom = { type: 'custom_tool_call', call_id: 'c2', name: 'g', input: 'x' };
const customOutput = { type: 'custom_tool_call_output', call_id: 'c2', output: 'x' };
const user = { role: 'user', content: 'Hi' };
const tool = { type: 'function', name: 'f', parameters: { type: 'object' } };

function ask(bench: GatewayBench, members: JsonObject): Promise<HttpResponse> {
	return bench.ask(path, JSON.stringify({ model: 'gpt-5-mini', input: 'Hi', ...members }));
}

const requests: Readonly<Record<string, JsonObject>> = {
	instructions: { instructions: word },
	'input as a string': { input: word },
	'a message': { input: [{ role: 'user', content: word }] },
	'a developer message': { input: [{ type: 'message', role: 'developer', content: [{ type: 'input_text', text: word }] }] },
	'a message across two parts': {
		input: [
			{ role: 'user', content: 'dark' },
			{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'fish' }] },
		],
	},
	'an earlier response': { input: [{ role: 'assistant', content: [{ type: 'output_text', text: word, annotations: [] }] }, user] },
	'an earlier refusal': { input: [{ role: 'assistant', content: [{ type: 'refusal', refusal: word }] }, user] },
	'a reasoning summary': {
		input: [{ type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: word }], content: null }, user],
	},
	'a reasoning text': { input: [{ type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: word }] }, user] },
	'arguments of a call': { input: [{ ...call, arguments: JSON.stringify({ a: word }) }, output] },
	'escaped arguments of a call': { input: [{ ...call, arguments: '{"a":"\\u0064arkfish"}' }, output] },
	'the name of a call': { input: [{ ...call, name: word }, output] },
	'the output of a call': { input: [call, { ...output, output: word }] },
	'a part of the output of a call': { input: [call, { ...output, output: [{ type: 'input_text', text: word }] }] },
	'input of a custom call': { input: [{ ...custom, input: word }, customOutput] },
	'output of a custom call': { input: [custom, { ...customOutput, output: word }] },
	'a result of an MCP call': { input: [{ type: 'mcp_call', id: 'm', name: 'f', server_label: 's', arguments: '{}', output: word }, user] },
	'an action of a shell call': { input: [{ type: 'shell_call', call_id: 'c3', action: { commands: [word] } }, user] },
	'output of a shell call': { input: [{ type: 'shell_call_output', call_id: 'c3', output: [{ stdout: word }] }, user] },
	'code of an interpreter call': { input: [{ type: 'code_interpreter_call', id: 'ci', code: word, outputs: [] }, user] },
	'a text file': { input: [{ role: 'user', content: [{ type: 'input_file', file_data: `data:text/plain;base64,${base64}` }] }] },
	'the name of a file': { input: [{ role: 'user', content: [{ type: 'input_file', filename: word, file_url: 'https://h.test/f' }] }] },
	'an SVG image': { input: [{ role: 'user', content: [{ type: 'input_image', image_url: `data:image/svg+xml;base64,${base64}` }] }] },
	'a percent-encoded file': { input: [{ role: 'user', content: [{ type: 'input_file', file_data: `data:text/plain,a%20%64arkfish` }] }] },
	'a text beside an image': { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'https://h.test/i', text: word }] }] },
	'a refusal beside a text': { input: [{ role: 'user', content: [{ type: 'input_text', text: 'x', refusal: word }] }] },
	'annotations of another type': { input: [{ role: 'user', content: [{ type: 'input_text', text: 'x', annotations: word }] }] },
	'an SVG screenshot': {
		input: [
			{
				type: 'computer_call_output',
				call_id: 'c5',
				output: { type: 'computer_screenshot', image_url: `data:image/svg+xml;base64,${base64}` },
			},
			user,
		],
	},
	'a skill of a shell': {
		input: [
			{ type: 'shell_call', call_id: 'c3', action: {}, environment: { type: 'local', skills: [{ name: 'n', description: word }] } },
			user,
		],
	},
	'the name of an MCP server': { input: [{ type: 'mcp_list_tools', id: 'm', server_label: word, tools: [] }, user] },
	'a prompt of another type': { prompt: word },
	'the name of a tool': { tools: [{ ...tool, name: word }] },
	'the description of a tool': { tools: [{ ...tool, description: word }] },
	'a tool in a namespace': { tools: [{ type: 'namespace', name: 'n', tools: [{ ...tool, description: word }] }] },
	'a tool in an item': { input: [{ type: 'additional_tools', role: 'developer', tools: [{ ...tool, description: word }] }, user] },
	'a found tool': {
		input: [
			{ type: 'tool_search_output', call_id: 'c4', tools: [{ type: 'namespace', name: 'n', tools: [{ ...tool, name: word }] }] },
			user,
		],
	},
	'the grammar of a tool': { tools: [{ type: 'custom', name: 'g', format: { type: 'grammar', syntax: 'lark', definition: word } }] },
	'a chosen tool': { tool_choice: { type: 'function', name: word } },
	'a variable of a prompt': { prompt: { variables: { a: word } } },
	'a schema': { text: { format: { type: 'json_schema', name: 'n', schema: { description: word } } } },
	'an unknown member': { brand_new: word },
	'an unknown part': { input: [{ role: 'user', content: [{ type: 'input_hologram', text: word }] }] },
	'an item of another server': { input: [{ type: 'vendor:note', text: word }, user] },
};

test.each(Object.entries(requests))('a blocked word in %s blocks the request', async (_where, members) => {
	const bench = new GatewayBench({ guardrails: guardrailsWith() });
	const response = await ask(bench, members);
	expect([summaryOf(response), bench.sent]).toEqual(['400 guardrail_blocked', []]);
	expect(
		(
			await ask(
				bench,
				JSON.parse(
					JSON.stringify(members)
						.replaceAll(/(?:%64|d)arkfish|dark(?=")|(?<=")fish|\\\\u0064arkfish/g, 'ok')
						.replaceAll(base64, 'b2s='),
				) as JsonObject,
			)
		).status,
	).toBe(200);
});

test.each([
	[200, { type: 'shell_call_output', call_id: 'c3', output: [{ stdout: 'x', stderr: '', outcome: { type: 'exit', exit_code: 0 } }] }],
	[200, { role: 'user', content: [{ type: 'input_file', file_data: 'data:text/plain;base64,eA==' }] }],
	[400, { role: 'user', content: [{ type: 'input_file', file_data: 'data:text/plain;base64,eA==', file_id: 'file-1' }] }],
	[400, { role: 'user', content: [{ type: 'input_file', file_data: 'data:text/plain;base64,//54AA==' }] }],
	[400, { type: 'computer_call_output', call_id: 'c5', output: { type: 'computer_screenshot', file_id: 'file-1' } }],
] as const)('if unreadable content is blocked, the result is %i for %j', async (status, item) => {
	const bench = new GatewayBench({ guardrails: guardrailsWith({ unreadable: 'block' }) });
	expect((await ask(bench, { input: [item, user] })).status).toBe(status);
});

test('credentials of an MCP server are no text, and the other members of the tool are', async () => {
	const bench = new GatewayBench({ guardrails: guardrailsWith({ pii: piiRules('mask') }) });
	const mcp = { type: 'mcp', server_label: 's', authorization: 'a@example.com', headers: { key: word } };
	expect((await ask(bench, { tools: [{ ...mcp, server_description: 'a@example.com' }] })).status).toBe(200);
	const [sent] = bench.sent;
	expect(JSON.parse(sent === undefined ? '' : sentText(sent))).toMatchObject({ tools: [{ ...mcp, server_description: '[EMAIL]' }] });
	expect(summaryOf(await ask(bench, { tools: [{ ...mcp, allowed_tools: [word] }] }))).toBe('400 guardrail_blocked');
});

test('a masked text of a request keeps every other byte', async () => {
	const bench = new GatewayBench({ guardrails: guardrailsWith({ pii: piiRules('mask') }) });
	await bench.ask(path, '{"model":"gpt-5-mini", "input":[{"role":"user","content":"I am a@example.com"}] }');
	const [sent] = bench.sent;
	expect(sent && sentText(sent)).toMatch(
		/^\{"model":"gpt-5-mini", "input":\[\{"role":"user","content":"I am [^@"]+"\}\] ,"store":false\}$/,
	);
});

describe('a masked text with log probabilities', () => {
	const pieces = ['I am a', '@example', '.com'];
	const token = (text: string): JsonObject => ({ token: text, logprob: 0, bytes: [...Buffer.from(text)], top_logprobs: [{ token: text }] });
	const part = { type: 'output_text', text: pieces.join(''), annotations: [], logprobs: pieces.map(token) };
	const item = { type: 'message', id: 'msg_1', role: 'assistant', content: [part] };
	const rules = { guardrails: guardrailsWith({ pii: piiRules('mask') }) };
	const masked = { ...item, content: [{ ...part, text: 'I am [EMAIL]', logprobs: [] }] };

	test('loses them in a request, with those of no other text', async () => {
		const bench = new GatewayBench(rules);
		const clean = { ...item, content: [{ ...part, text: 'x', logprobs: [token('x')] }] };
		expect((await ask(bench, { input: [item, user, clean, user] })).status).toBe(200);
		const [sent] = bench.sent;
		expect(JSON.parse(sent === undefined ? '' : sentText(sent))).toMatchObject({ input: [masked, user, clean, user] });
	});

	test('loses them in a response', async () => {
		const bench = new GatewayBench(rules);
		bench.respond = () => jsonResponse(200, JSON.stringify({ object: 'response', output: [item] }));
		expect(JSON.parse(textOf(await ask(bench, {})))).toEqual({ object: 'response', output: [masked] });
	});

	test('loses them in each event of a stream', async () => {
		const bench = new GatewayBench(rules);
		const hand = new HandStream();
		bench.respond = () => sseResponse(hand);
		const { reader } = readStream(await ask(bench, { stream: true }));
		const at = { output_index: 0, content_index: 0 };
		const events = [
			...pieces.map((delta) => ({ type: 'response.output_text.delta', ...at, delta, logprobs: [token(delta)] })),
			{ type: 'response.output_text.done', ...at, text: part.text, logprobs: part.logprobs },
			{ type: 'response.content_part.done', ...at, part },
			{ type: 'response.output_item.done', output_index: 0, item },
			{ type: 'response.completed', response: { output: [item], usage: { input_tokens: 1, output_tokens: 1 } } },
		];
		hand.write(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
		hand.sink?.end();
		await settle();
		const received = reader.text.trim().split('\n\n');
		expect(received.map((event) => JSON.parse(event.slice('data: '.length)) as JsonObject)).toMatchObject([
			{ delta: 'I am [EMAIL]', logprobs: [] },
			{ delta: '', logprobs: [] },
			{ delta: '', logprobs: [] },
			{ text: 'I am [EMAIL]', logprobs: [] },
			{ part: { text: 'I am [EMAIL]', logprobs: [] } },
			{ item: masked },
			{ response: { output: [masked] } },
		]);
	});
});

test('a masked text in a member named like log probabilities is replaced', async () => {
	const bench = new GatewayBench({ guardrails: guardrailsWith({ pii: piiRules('mask') }) });
	await ask(bench, { logprobs: 'a@example.com' });
	const [sent] = bench.sent;
	expect(sent && sentText(sent)).toContain('"logprobs":"[EMAIL]"');
});

const message = (text: string): JsonObject => ({
	type: 'message',
	id: 'msg_1',
	role: 'assistant',
	content: [{ type: 'output_text', text, annotations: [] }],
});
const responseWith = (...items: readonly JsonObject[]): string =>
	JSON.stringify({
		id: 'resp_1',
		object: 'response',
		status: 'completed',
		instructions: word,
		output: items,
		usage: { input_tokens: 1, output_tokens: 2 },
	});

const items: Readonly<Record<string, JsonObject>> = {
	'a text': message(word),
	'a refusal': { ...message(''), content: [{ type: 'refusal', refusal: word }] },
	'a citation': { ...message('x'), content: [{ type: 'output_text', text: 'x', annotations: [{ type: 'url_citation', title: word }] }] },
	'the tokens of a text': {
		...message('x'),
		content: [{ type: 'output_text', text: 'x', annotations: [], logprobs: [{ token: 'dark', top_logprobs: [] }, { token: 'fish' }] }],
	},
	'a summary': { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: word }] },
	'a thought': { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: word }] },
	arguments: { ...call, arguments: JSON.stringify({ a: word }) },
	'the name of a call': { ...call, name: word },
	'input of a custom call': { ...custom, input: word },
	'a query of a search': { type: 'web_search_call', id: 'ws', action: { type: 'search', query: word } },
	'a result of a file search': { type: 'file_search_call', id: 'fs', queries: [], results: [{ text: word }] },
	code: { type: 'code_interpreter_call', id: 'ci', code: word, outputs: null },
	'a patch': { type: 'apply_patch_call', call_id: 'p', operation: { type: 'update_file', diff: word } },
	'a new kind of item': { type: 'brand_new', text: word },
};

describe.each(Object.entries(items))('a blocked word in %s', (_where, item) => {
	test('blocks a non-streaming response', async () => {
		const bench = new GatewayBench({ guardrails: guardrailsWith() });
		bench.respond = () => jsonResponse(200, responseWith(message('ok'), item));
		expect(summaryOf(await ask(bench, {}))).toBe('400 guardrail_blocked');
	});

	test.each(['response.output_item.done', 'response.output_item.added'])('blocks a stream in %s', async (type) => {
		const text = await streamed([{ type, output_index: 0, item }]);
		expect(text).not.toContain(word.slice(1));
		expectBlocked(text, 1);
	});

	test('blocks a stream in its last event', async () => {
		const text = await streamed([{ type: 'response.completed', response: JSON.parse(responseWith(item)) as JsonObject }]);
		expectBlocked(text, 1);
	});
});

const deltas: Readonly<Record<string, JsonObject>> = {
	'response.output_text': { content_index: 0 },
	'response.refusal': { content_index: 0 },
	'response.reasoning_text': { content_index: 0 },
	'response.reasoning_summary_text': { summary_index: 0 },
	'response.function_call_arguments': {},
	'response.mcp_call_arguments': {},
	'response.custom_tool_call_input': {},
	'response.code_interpreter_call_code': {},
	'response.shell_call_command': { command_index: 0 },
	'response.apply_patch_call_operation_diff': {},
	'response.audio.transcript': {},
};
const repeatedIn: Readonly<Record<string, string>> = {
	'response.refusal': 'refusal',
	'response.function_call_arguments': 'arguments',
	'response.mcp_call_arguments': 'arguments',
	'response.custom_tool_call_input': 'input',
	'response.code_interpreter_call_code': 'code',
	'response.shell_call_command': 'command',
	'response.apply_patch_call_operation_diff': 'diff',
	'response.audio.transcript': 'transcript',
};

describe.each(Object.entries(deltas))('a blocked word in %s', (kind, at) => {
	test('blocks a stream across two deltas', async () => {
		const place = { item_id: 'i', output_index: 0, ...at };
		const text = await streamed([
			{ type: `${kind}.delta`, ...place, delta: 'a dark' },
			{ type: `${kind}.delta`, ...place, delta: 'fish b' },
		]);
		expect(text).not.toContain('dark');
		expectBlocked(text, 1);
	});

	test('blocks a stream that only repeats it', async () => {
		const place = { item_id: 'i', output_index: 0, ...at };
		expectBlocked(await streamed([{ type: `${kind}.done`, ...place, [repeatedIn[kind] ?? 'text']: word }]), 1);
	});
});

test.each([
	[{ type: 'response.output_text.annotation.added', output_index: 0, annotation: { title: word } }],
	[{ type: 'response.content_part.added', output_index: 0, content_index: 0, part: { type: 'output_text', text: word } }],
	[{ type: 'response.reasoning_summary_part.done', output_index: 0, summary_index: 0, part: { type: 'summary_text', text: word } }],
	[{ type: 'response.brand_new.delta', output_index: 0, delta: word }],
	[{ type: 'response.created', text: word }],
	[{ type: 'response.output_text.delta', output_index: 0, delta: 'x', text: word }],
	[{ type: 'response.output_text.done', output_index: 0, text: 'x', delta: word }],
	[{ type: 'response.output_item.done', output_index: 0, item: word }],
	[{ type: 'response.content_part.done', output_index: 0, part: [word] }],
	[{ type: 'response.completed', response: word }],
	[{ type: 'response.completed', response: { id: 'resp_1', output: word } }],
	[{ type: 'error', code: 'x', message: word }],
	[{ type: 'error', error: { message: word } }],
	[{ type: 'response.failed', response: { id: 'resp_1', status: 'failed', error: { code: 'x', message: word }, output: [] } }],
])('a blocked word in %j blocks a stream', async (event) => {
	expectBlocked(await streamed([event]), 1);
});

test('a word across two messages blocks', async () => {
	const text = await streamed([
		{ type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'dark' },
		{ type: 'response.output_item.done', output_index: 0, item: message('dark') },
		{ type: 'response.output_text.delta', output_index: 1, content_index: 0, delta: 'fish' },
	]);
	expect(text).not.toContain('fish');
});

test('masked text is masked in every event that repeats it', async () => {
	const bench = new GatewayBench({ guardrails: guardrailsWith({ pii: piiRules('mask') }) });
	const secret = 'I am a@example.com.';
	const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
	const events = [
		{ type: 'response.output_text.delta', ...place, delta: 'I am a@exam' },
		{ type: 'response.output_text.delta', ...place, delta: 'ple.com.' },
		{ type: 'response.output_text.done', ...place, text: secret },
		{ type: 'response.content_part.done', ...place, part: { type: 'output_text', text: secret, annotations: [] } },
		{ type: 'response.output_item.done', output_index: 0, item: message(secret) },
		{ type: 'response.completed', response: JSON.parse(responseWith(message(secret))) as JsonObject },
	];
	const text = await streamed(events, bench);
	expect(text).not.toContain('exam');
	const data = [...text.matchAll(/^data: (.*)$/gm)].map(([, json = '']) => JSON.parse(json) as Record<string, unknown>);
	expect(data.map(({ type }) => type)).toEqual(['response.created', ...events.map(({ type }) => type)]);
	const written = data.flatMap(({ delta }) => (typeof delta === 'string' ? [delta] : [])).join('');
	expect(data[3]?.['text']).toBe(written);
});

test.each(
	readRecordings('responses')
		.filter(({ response }) => response.status === 200)
		.map((recording) => [recording.name, recording] as const),
)('%s passes unchanged under enforcement', async (_name, recording) => {
	const isStreaming = recording.response.sse !== undefined;
	const bench = new GatewayBench({ guardrails: guardrailsWith() });
	const bytes = recordedBytes(recording);
	bench.respond = () => (isStreaming ? sseResponse(streamOf([bytes])) : jsonResponse(200, bytes));
	const response = await ask(bench, { stream: isStreaming });
	if (!isStreaming) return expect(textOf(response)).toBe(bytes.toString());
	const { reader } = readStream(response);
	await settle();
	return expect(reader.text).toBe(bytes.toString('latin1'));
});

/** Returns what the client of a guarded stream receives: `response.created` and the events. */
async function streamed(events: readonly JsonObject[], bench = new GatewayBench({ guardrails: guardrailsWith() })): Promise<string> {
	const upstream = new HandStream();
	bench.respond = () => sseResponse(upstream);
	const response = await ask(bench, { stream: true });
	if (response.body === null || !isByteStream(response.body)) throw new Error('no stream');
	const { reader } = readStream(response);
	const created = {
		type: 'response.created',
		response: { id: 'resp_1', created_at: 7, model: 'm', output: [], instructions: 'Be brief.' },
	};
	for (const [sequence_number, event] of [created, ...events].entries()) {
		if (upstream.isCancelled) break;
		upstream.write(`event: ${String(event['type'])}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`);
	}
	if (!upstream.isCancelled) upstream.sink?.end();
	await settle();
	expect(reader.ending).toBe('ended');
	return Buffer.from(reader.text, 'latin1').toString();
}

/** Expects the end of a blocked stream: an error in both forms, and the failed response. */
function expectBlocked(text: string, sequence_number: number): void {
	const events = [...text.matchAll(/^event: (.*)\ndata: (.*)$/gm)].map(
		([, name, json = '']) => [name, JSON.parse(json) as JsonObject] as const,
	);
	expect(events.map(([name]) => name)).toEqual(['response.created', 'error', 'response.failed']);
	expect(events[1]?.[1]).toMatchObject({ type: 'error', sequence_number, code: 'guardrail_blocked', error: { code: 'guardrail_blocked' } });
	const response = { id: 'resp_1', created_at: 7, model: 'm', status: 'failed', error: { code: 'guardrail_blocked' } };
	expect(events[2]?.[1]).toMatchObject({ type: 'response.failed', sequence_number: sequence_number + 1, response });
}
