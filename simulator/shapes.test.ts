/** Tests that the simulator's responses have the shape of the vendors' ones: the same events, the same fields in the same order. */
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type StartedSimulator, startSimulator } from '../test/support/start-simulator.ts';

let simulator: StartedSimulator;
beforeAll(async () => {
	simulator = await startSimulator({ retryAfterEvery: 1 });
});
afterAll(() => simulator.close());

const recordings = new URL('../test/fixtures/recorded/', import.meta.url);

interface Recorded {
	readonly request?: { readonly path: string; readonly body: Record<string, unknown> };
	readonly response: { readonly status: number; readonly headers: Record<string, string>; readonly json?: unknown; readonly sse?: string };
}

function readRecorded(name: string): Recorded {
	return JSON.parse(readFileSync(new URL(`${name}.json`, recordings), 'utf8')) as Recorded;
}

/** Keys and types of a value, in order, without contents that a client or a model makes up. */
function shapeOf(value: unknown): unknown {
	if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])];
	if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
	return Object.entries(value).map(([key, inner]) => (key === 'input' || key === 'args' ? key : [key, shapeOf(inner)]));
}

interface SseEvent {
	readonly event: string | undefined;
	readonly data: string;
}

function eventsOf(sse: string): SseEvent[] {
	return sse
		.split(/\r?\n\r?\n/)
		.filter((block) => block.trim() !== '')
		.map((block) => ({ event: /^event: (.*)$/m.exec(block)?.[1], data: /^data: (.*)$/m.exec(block)?.[1]?.trim() ?? '' }));
}

/** Sequence of event shapes with repetitions collapsed, because the number of text pieces is random. */
function sequenceOf(sse: string): string[] {
	const shapes = eventsOf(sse)
		.map(({ event, data }) => `${event ?? ''} ${data === '[DONE]' ? data : JSON.stringify(shapeOf(JSON.parse(data)))}`)
		.filter((shape) => !shape.startsWith('ping'));
	return shapes.filter((shape, index) => shape !== shapes[index - 1]);
}

async function call(path: string, headers: Record<string, string>, body: unknown): Promise<Response> {
	return fetch(simulator.origin + path, {
		method: 'POST',
		headers: { 'content-type': 'application/json', ...headers },
		body: JSON.stringify(body),
	});
}

const openAiKey = { authorization: 'Bearer sk-shape' };
const azureKey = { 'api-key': 'shape' };
const anthropicKey = { 'x-api-key': 'shape', 'anthropic-version': '2023-06-01' };
const geminiKey = { 'x-goog-api-key': 'shape' };

describe('OpenAI and Azure streams, the recorded requests sent again', () => {
	test.each([
		['openai/text-stream-usage', '/openai/v1/chat/completions', openAiKey, {}],
		['openai/tool-result-stream', '/openai/v1/chat/completions', openAiKey, {}],
		['openai/tool-stream-usage', '/openai/v1/chat/completions', openAiKey, { tool_choice: 'required' }],
		['openai/tool-parallel-stream', '/openai/v1/chat/completions', openAiKey, {}],
		['azure/text-stream', '/azure/openai/deployments/gpt-4.1-mini/chat/completions?api-version=2024-02-01', azureKey, {}],
	])('%s', async (name, path, headers, changes) => {
		const { request, response } = readRecorded(name);
		const httpResponse = await call(path, headers, { ...request?.body, ...changes });
		const simulated = sequenceOf(await httpResponse.text());
		// The vendor decides at random which model has a fingerprint.
		const settle = (sequence: string[]): string[] =>
			sequence.map((shape) => shape.replace('["system_fingerprint","null"]', '["system_fingerprint","string"]'));
		expect(settle(simulated)).toEqual(settle(sequenceOf(response.sse ?? '')));
		expect(httpResponse.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
	});
});

describe('OpenAI and Azure responses', () => {
	test.each([
		['openai/text', '/openai/v1/chat/completions', openAiKey, {}],
		['openai/tool-parallel', '/openai/v1/chat/completions', openAiKey, {}],
		['openai/legacy-function-call', '/openai/v1/chat/completions', openAiKey, {}],
		['openai/reasoning', '/openai/v1/chat/completions', openAiKey, {}],
		['openai/json-schema', '/openai/v1/chat/completions', openAiKey, {}],
		['openai/refusal', '/openai/v1/chat/completions', { ...openAiKey, 'x-simulator-fault': 'refusal' }, {}],
		['openai/n2', '/openai/v1/chat/completions', openAiKey, { stream: undefined }],
		['openai/cached-tokens', '/openai/v1/chat/completions', openAiKey, {}],
		['openai/service-tier', '/openai/v1/chat/completions', openAiKey, {}],
		['openai/error-404-model', '/openai/v1/chat/completions', openAiKey, { model: 'no-such-model' }],
		[
			'openai/error-400-image-format',
			'/openai/v1/chat/completions',
			openAiKey,
			{ messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:text/plain;base64,aGk=' } }] }] },
		],
		['azure/text', '/azure/openai/deployments/gpt-4.1-mini/chat/completions?api-version=2024-02-01', azureKey, {}],
		['azure/content-filter', '/azure/openai/deployments/sim-content-filter/chat/completions?api-version=2024-02-01', azureKey, {}],
		['azure/error-404-deployment', '/azure/openai/deployments/no-such/chat/completions?api-version=2024-02-01', azureKey, {}],
	])('%s', async (name, path, headers, changes) => {
		const { request, response } = readRecorded(name);
		const httpResponse = await call(path, headers, { ...request?.body, ...changes });
		expect(httpResponse.status).toBe(response.status);
		const settle = (shape: unknown): string =>
			JSON.stringify(shape)
				.replace('["system_fingerprint","null"]', '["system_fingerprint","string"]')
				.replaceAll('["filtered","boolean"],["detected","boolean"]', '["detected","boolean"],["filtered","boolean"]');
		const simulated = settle(shapeOf(await httpResponse.json()));
		const recorded = settle(shapeOf(response.json));
		if (name === 'azure/content-filter') expect(simulated).not.toContain('"message"');
		else expect(simulated).toBe(recorded);
		for (const header of Object.keys(response.headers)) {
			if (!/input-images|abusepenalty|renewalperiod-tokens|retry-after/.test(header)) {
				expect([...httpResponse.headers.keys()]).toContain(header);
			}
		}
	});
});

describe('Anthropic', () => {
	/** Fields that later releases of the API added after the recording. */
	const added =
		/,?\["(?:stop_details|cache_creation|service_tier|inference_geo|output_tokens_details|cache_creation_input_tokens|cache_read_input_tokens|input_tokens)",(?:"\w+"|\[(?:\["\w+","\w+"\],?)*\])\]/g;
	const ordered = (shape: string): string => shape.replace(added, '').replace('[,', '[');
	/** Moves `model` to the front, as the vendor did. */
	const modelFirst = (shape: string): string =>
		shape.includes('["model","string"]') ? `model ${shape.replace(/,?\["model","string"\]/, '').replace('[,', '[')}` : shape;
	const settle = (shape: string): string => modelFirst(ordered(shape));

	test.each([
		['anthropic/text-stream', {}],
		['anthropic/tools-parallel-stream', {}],
		['anthropic/thinking-stream', { model: 'claude-3-7-sonnet-latest' }],
		['anthropic/cache-read-stream', {}],
	])('%s', async (name, changes) => {
		const { request, response } = readRecorded(name);
		const httpResponse = await call('/anthropic/v1/messages', anthropicKey, { ...request?.body, ...changes });
		const sse = await httpResponse.text();
		expect(sequenceOf(sse).map(settle)).toEqual(sequenceOf(response.sse ?? '').map(settle));
		expect(sse).toContain('event: ping\ndata: {"type": "ping"}\n\n');
		expect(sse).toMatch(/ {2,}\}\n\n/);
		for (const header of Object.keys(response.headers)) expect([...httpResponse.headers.keys()]).toContain(header);
		expect(httpResponse.headers.get('retry-after')).toBe('59');
	});

	test('a newer response has each of its fields in the vendor’s order', async () => {
		const { response } = readRecorded('anthropic/v-thinking-opus5');
		const httpResponse = await call('/anthropic/v1/messages', anthropicKey, {
			model: 'claude-opus-5',
			max_tokens: 500,
			thinking: { type: 'adaptive' },
			messages: [{ role: 'user', content: 'Hi' }],
		});
		expect(shapeOf(await httpResponse.json())).toEqual(shapeOf(response.json));
	});

	test.each(['v-refusal', 'v-refusal-stream'])('%s', async (name) => {
		const { response } = readRecorded(`anthropic/${name}`);
		const body = {
			model: 'claude-sim-refusal',
			max_tokens: 50,
			stream: response.sse !== undefined,
			messages: [{ role: 'user', content: 'Hi' }],
		};
		const text = await (await call('/anthropic/v1/messages', anthropicKey, body)).text();
		const types = (sse: string): unknown[] => eventsOf(sse).map((event) => event.event);
		if (response.sse !== undefined) expect(types(text)).toEqual(types(response.sse));
		else expect(JSON.parse(text)).toMatchObject({ content: [], stop_reason: 'refusal', stop_details: { type: 'refusal' } });
	});
});

describe('Gemini', () => {
	const declared = [
		{ functionDeclarations: [{ name: 'weather', parameters: { type: 'OBJECT', properties: { location: { type: 'STRING' } } } }] },
	];
	const requested = { contents: [{ role: 'user', parts: [{ text: 'What is the weather in San Francisco?' }] }] };
	const path = (method: string): string => `/gemini/v1beta/models/gemini-3-pro-preview:${method}`;

	test.each([
		['gemini/text', 'generateContent', requested],
		['gemini/thinking', 'generateContent', requested],
		['gemini/tool-call', 'generateContent', { ...requested, tools: declared }],
	])('%s', async (name, method, body) => {
		const response = await call(path(method), geminiKey, body);
		expect(shapeOf(await response.json())).toEqual(shapeOf(readRecorded(name).response.json));
	});

	test.each([
		['gemini/text-stream', requested],
		['gemini/thinking-stream', requested],
		['gemini/tool-call-stream', { ...requested, tools: declared }],
	])('%s', async (name, body) => {
		const sse = await (await call(path('streamGenerateContent?alt=sse'), geminiKey, body)).text();
		expect(sequenceOf(sse)).toEqual(sequenceOf(readRecorded(name).response.sse ?? ''));
		expect(sse.split('\r\n\r\n').length).toBeGreaterThan(2);
		expect(sse).not.toContain('[DONE]');
	});

	test('without alt=sse the stream is one JSON array of the same responses', async () => {
		const sse = await (await call(path('streamGenerateContent?alt=sse'), geminiKey, requested)).text();
		const list = (await (await call(path('streamGenerateContent'), geminiKey, requested)).json()) as object[];
		expect(list.map(shapeOf)).toEqual(eventsOf(sse).map((event) => shapeOf(JSON.parse(event.data))));
	});

	test.each(['v1', 'v1beta'])('models of %s', async (version) => {
		const ask = (tail: string): Promise<Response> => fetch(`${simulator.origin}/gemini/${version}/models${tail}`, { headers: geminiKey });
		const list = (await (await ask('?pageSize=50')).json()) as { models: { name: string }[] };
		expect(list.models.map(({ name }) => name)).toContain('models/gemini-2.5-flash');
		expect(await (await ask('/gemini-2.5-flash')).json()).toEqual(list.models.find(({ name }) => name === 'models/gemini-2.5-flash'));
		const unknown = await ask('/gemini-none');
		expect([unknown.status, await unknown.json()]).toMatchObject([404, { error: { status: 'NOT_FOUND' } }]);
	});

	test('a stream that breaks ends with the error of an overloaded model', async () => {
		const sse = await (
			await call(path('streamGenerateContent?alt=sse').replace('gemini-3', 'gemini-3-sim-error-mid-stream-1'), geminiKey, requested)
		).text();
		expect(JSON.parse(eventsOf(sse).at(-1)?.data ?? '')).toMatchObject({ error: { code: 503, status: 'UNAVAILABLE' } });
	});

	test('gemini/error-429', async () => {
		const response = await call('/gemini/v1beta/models/gemini-sim-429-retry-after-35:generateContent', geminiKey, requested);
		expect(response.status).toBe(429);
		expect(response.headers.get('retry-after')).toBeNull();
		const body = (await response.json()) as { error: { details: unknown[] } };
		const recorded = readRecorded('gemini/error-429').response.json as typeof body;
		expect(body).toMatchObject({ error: { code: 429, status: 'RESOURCE_EXHAUSTED' } });
		expect(body.error.details[1]).toEqual(recorded.error.details[1]);
	});
});

describe('Responses API', () => {
	/** Fields that not every recording has, because the vendor added them with time or for some models. */
	const varying =
		/,?\["(?:billing|context|moderation|completed_at|frequency_penalty|presence_penalty|prompt_cache_retention|content_filters|tool_usage|phase|obfuscation)",(?:"\w+"|\[[^"]*\]|\[\["payer","string"\]\]|\[\[\["blocked".*?"check_offset","number"\]\]\]\]\])\]/g;
	const settle = (shape: string): string =>
		shape
			.replace(varying, '')
			.replaceAll(/,?\["tool_choice",(?:"string"|\[\["type","string"\],\["name","string"\]\])\]/g, '')
			.replaceAll('[,', '[')
			.replaceAll(/\["(completed_at|previous_response_id|effort|summary|description)","(?:null|number|string)"\]/g, '["$1"]')
			// The vendor moved the sequence number, and sorts the fields of an event since.
			.replace(
				/^(\S+ )(\[.*\])$/,
				(_whole, type: string, json: string) =>
					type +
					JSON.stringify(
						(JSON.parse(json) as unknown[]).map((field) => JSON.stringify(field)).toSorted((one, other) => (one < other ? -1 : 1)),
					),
			);

	test.each([
		['responses/text-stream', '/openai/v1/responses', openAiKey, {}],
		['responses/tool-stream', '/openai/v1/responses', openAiKey, { tool_choice: { type: 'function', name: 'analyze_data' } }],
	])('%s', async (name, path, headers, changes) => {
		const { request, response } = readRecorded(name);
		const httpResponse = await call(path, headers, { ...request?.body, ...changes });
		const simulated = sequenceOf(await httpResponse.text()).map(settle);
		const recorded = sequenceOf(response.sse ?? '').map(settle);
		expect(simulated.map((shape) => shape.split(' ')[0])).toEqual(recorded.map((shape) => shape.split(' ')[0]));
		expect(simulated).toEqual(recorded);
	});

	test.each([
		['responses/text', {}],
		['responses/reasoning', {}],
		['responses/reasoning-summary', {}],
		['responses/tool-call', {}],
		['responses/structured', {}],
		['responses/request-params', {}],
		['responses/v-error-400-temperature', { model: 'o3', input: 'Hi', temperature: 0.5 }],
		['responses/v-error-429-quota', { model: 'sim-429-quota', input: 'Hi' }],
	])('%s', async (name, changes) => {
		const { request, response } = readRecorded(name);
		const httpResponse = await call('/openai/v1/responses', openAiKey, { ...request?.body, ...changes });
		expect(httpResponse.status).toBe(response.status);
		expect(settle(JSON.stringify(shapeOf(await httpResponse.json())))).toEqual(settle(JSON.stringify(shapeOf(response.json))));
		for (const header of Object.keys(response.headers)) expect([...httpResponse.headers.keys()]).toContain(header);
	});

	test('the 400 of a reasoning model says the same as the recorded one', async () => {
		const response = await call('/openai/v1/responses', openAiKey, { model: 'gpt-5', input: 'Hi', temperature: 0.5 });
		expect(await response.json()).toEqual(readRecorded('responses/v-error-400-temperature').response.json);
	});

	const eventTypes = (sse: string): unknown[] =>
		eventsOf(sse)
			.map(({ event }) => event)
			.filter((type, index, all) => type !== all[index - 1]);

	test('an error in the stream comes in both forms, before a failed response', async () => {
		const body = { model: 'gpt-5-sim-error-mid-stream-2', input: 'Hi', stream: true };
		const sse = await (await call('/openai/v1/responses', openAiKey, body)).text();
		const recorded = readRecorded('responses/v-error-quota-stream').response.sse ?? '';
		expect(eventTypes(sse)).toEqual(eventTypes(recorded));
		const error = JSON.parse(eventsOf(sse)[2]?.data ?? '') as Record<string, unknown>;
		expect(error).toMatchObject({ type: 'error', code: 'server_error', error: { code: 'server_error' }, sequence_number: 2 });
	});

	test('encrypted reasoning and a call', async () => {
		const { response } = readRecorded('responses/v-reasoning-encrypted-stream');
		const body = {
			model: 'gpt-5.1-codex-max',
			stream: true,
			store: false,
			include: ['reasoning.encrypted_content'],
			reasoning: { effort: 'high', summary: 'auto' },
			tools: [{ type: 'function', name: 'calculator', parameters: { type: 'object', properties: { a: { type: 'number' } } } }],
			tool_choice: 'required',
			input: 'Calculate',
		};
		const sse = await (await call('/openai/v1/responses', openAiKey, body)).text();
		expect(eventTypes(sse)).toEqual(eventTypes(response.sse ?? ''));
		const itemEvents = (text: string): string[] =>
			sequenceOf(text)
				.map(settle)
				.filter((shape) => shape.includes('["item",'));
		expect(itemEvents(sse)).toEqual(itemEvents(response.sse ?? ''));
	});

	test('Azure, whose responses have content filters', async () => {
		const { response } = readRecorded('responses/v-azure-tool-stream');
		const tools = [{ type: 'function', name: 'weather', parameters: { type: 'object', properties: { location: { type: 'string' } } } }];
		const body = { model: 'gpt-5.1', input: 'The weather in San Francisco?', stream: true, reasoning: { effort: 'none' }, tools };
		const paths = ['/azure/openai/v1/responses', '/azure/openai/responses?api-version=2025-03-01-preview'];
		for (const path of paths) {
			const sse = await (await call(path, azureKey, body)).text();
			expect(eventTypes(sse)).toEqual(eventTypes(response.sse ?? ''));
			const last = (text: string): { response: { content_filters: object[] } } => JSON.parse(eventsOf(text).at(-1)?.data ?? '') as never;
			const sorted = (filters: object[]): string[] => filters.map((filter) => Object.keys(filter).toSorted().join());
			expect(sorted(last(sse).response.content_filters)).toEqual(sorted(last(response.sse ?? '').response.content_filters));
		}
	});
});

describe('Embeddings', () => {
	test.each([
		['embeddings/openai-base64', '/openai/v1/embeddings', openAiKey, {}],
		['embeddings/v-openai-float', '/openai/v1/embeddings', openAiKey, { model: 'text-embedding-3-small', input: ['a', 'b'] }],
		[
			'embeddings/azure',
			'/azure/openai/deployments/text-embedding-3-large/embeddings?api-version=2023-07-01-preview',
			azureKey,
			{ model: 'text-embedding-3-large' },
		],
		[
			'embeddings/azure-error-401',
			'/azure/openai/deployments/mine/embeddings?api-version=2023-07-01-preview',
			{ 'api-key': 'bad-key' },
			{},
		],
	])('%s', async (name, path, headers, changes) => {
		const { request, response } = readRecorded(name);
		const httpResponse = await call(path, headers, { ...request?.body, ...changes });
		expect(httpResponse.status).toBe(response.status);
		const body: unknown = await httpResponse.json();
		expect(shapeOf(body)).toEqual(shapeOf(response.json));
		const vectorOf = (value: unknown): unknown => (value as { data?: { embedding: unknown }[] }).data?.[0]?.embedding;
		const [simulated, recorded] = [vectorOf(body), vectorOf(response.json)];
		if (typeof recorded === 'string') expect(String(simulated)).toHaveLength(recorded.length);
	});
});

test('each recording is here', () => {
	for (const vendor of ['anthropic', 'azure', 'gemini', 'openai', 'responses']) {
		expect(readdirSync(new URL(vendor, recordings)).length).toBeGreaterThan(5);
	}
});
