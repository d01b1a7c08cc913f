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

test('each recording is here', () => {
	for (const vendor of ['anthropic', 'azure', 'gemini', 'openai']) {
		expect(readdirSync(new URL(vendor, recordings)).length).toBeGreaterThan(5);
	}
});
