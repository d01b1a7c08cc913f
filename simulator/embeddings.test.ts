/** Tests embeddings: vectors, encodings, limits and usage, in OpenAI's and Gemini's formats. */
import OpenAI, { AzureOpenAI } from 'openai';
import OpenAI6 from 'openai-6';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type StartedSimulator, startSimulator } from '../test/support/start-simulator.ts';

let simulator: StartedSimulator;
let client: OpenAI;
beforeAll(async () => {
	simulator = await startSimulator();
	client = new OpenAI({ apiKey: 'sk-test-1111', baseURL: `${simulator.origin}/openai/v1`, maxRetries: 0 });
});
afterAll(() => simulator.close());

const model = 'text-embedding-3-small';
const lengthOf = (vector: readonly number[]): number => Math.hypot(...vector);
const similarity = (one: readonly number[] = [], other: readonly number[] = []): number =>
	one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0) / (lengthOf(one) * lengthOf(other));

describe('OpenAI', () => {
	test('the SDKs’ default is base64, and yields the numbers of float', async () => {
		const older = new OpenAI6({ apiKey: 'sk-test-1111', baseURL: `${simulator.origin}/openai/v1`, maxRetries: 0 });
		const input = ['The ship sails into the harbor', 'A boat enters the harbor'];
		const floats = await client.embeddings.create({ model, input, encoding_format: 'float' });
		for (const sdk of [client, older]) {
			const decoded = await sdk.embeddings.create({ model, input });
			expect(decoded.data.map(({ embedding }) => [...embedding])).toEqual(floats.data.map(({ embedding }) => embedding));
		}
		expect(floats.data.map(({ index, embedding }) => [index, embedding.length])).toEqual([
			[0, 1536],
			[1, 1536],
		]);
		expect(floats.usage).toEqual({ prompt_tokens: 8 + 6, total_tokens: 8 + 6 });
		expect(lengthOf(floats.data[0]?.embedding ?? [])).toBeCloseTo(1, 5);
	});

	test('similar texts are nearer than others, at any size', async () => {
		const input = ['How do I reset my password?', 'How can I reset a forgotten password?', 'The recipe needs two eggs and flour.'];
		for (const dimensions of [undefined, 256]) {
			const { data } = await client.embeddings.create({ model, input, ...(dimensions !== undefined && { dimensions }) });
			const [first, second, third] = data.map(({ embedding }) => embedding);
			expect(first).toHaveLength(dimensions ?? 1536);
			expect(lengthOf(first ?? [])).toBeCloseTo(1, 5);
			expect(similarity(first, second)).toBeGreaterThan(0.5);
			expect(Math.abs(similarity(first, third))).toBeLessThan(0.25);
		}
	});

	test('the same text always gets the same vector; token lists are accepted', async () => {
		const embed = async (input: string | number[] | number[][]): Promise<number[][]> =>
			(await client.embeddings.create({ model: 'text-embedding-3-large', input })).data.map(({ embedding }) => [...embedding]);
		expect(await embed('Hello')).toEqual(await embed('Hello'));
		expect((await embed('Hello'))[0]).toHaveLength(3072);
		expect(await embed([1, 2, 3])).toEqual(await embed([[1, 2, 3]]));
		expect(await embed([[1, 2, 3], [4]])).toHaveLength(2);
		expect((await client.embeddings.create({ model, input: [[1, 2, 3], [4]] })).usage.prompt_tokens).toBe(4);
	});

	test('the largest batch', async () => {
		const { data, usage } = await client.embeddings.create({
			model,
			dimensions: 16,
			input: Array.from({ length: 2048 }, (_value, index) => `text ${index}`),
		});
		expect([data.length, data[2047]?.index]).toEqual([2048, 2047]);
		expect((await simulator.bill()).total.input_tokens).toBeGreaterThanOrEqual(usage.prompt_tokens);
	});

	test.each([
		[{ input: '' }, 400, /'\$\.input' is invalid/],
		[{ input: ['a', ''] }, 400, /'\$\.input' is invalid/],
		[{ input: [] }, 400, /array too short/],
		[{ input: Array.from({ length: 2049 }, () => 'a') }, 400, /maximum length 2048/],
		[{ input: 'x'.repeat(4 * 8193) }, 400, /maximum context length is 8192 tokens, however you requested 8193/],
		[{ input: Array.from({ length: 40 }, () => 'x'.repeat(4 * 8000)) }, 400, /Requested 320000 tokens, max 300000/],
		[{ model: 'text-embedding-ada-002', dimensions: 256 }, 400, /does not support specifying dimensions/],
		[{ dimensions: 2000 }, 400, /less than or equal to 1536/],
		[{ encoding_format: 'hex' }, 400, /Supported values are: 'float' and 'base64'/],
		[{ model: 'gpt-4o' }, 403, /not allowed to generate embeddings/],
		[{ model: 'no-such-model' }, 404, /does not exist/],
		[{ model: 'sim-429' }, 429, /Rate limit/],
		[{ model: 'sim-500' }, 500, /server had an error/],
	])('%#: rejected with %i', async (fields, status, message) => {
		const rejected = client.embeddings.create({ model, input: 'Hi', ...(fields as object) });
		await expect(rejected).rejects.toMatchObject({ status });
		await expect(rejected).rejects.toThrow(message);
	});

	test('Azure, by deployment and without', async () => {
		const azure = new AzureOpenAI({
			endpoint: `${simulator.origin}/azure`,
			apiKey: 'azure-key-1',
			apiVersion: '2024-10-21',
			maxRetries: 0,
		});
		const versioned = await azure.embeddings.create({ model: 'my-deployment', input: 'Hello' });
		const newer = new OpenAI({ apiKey: 'azure-key-1', baseURL: `${simulator.origin}/azure/openai/v1`, maxRetries: 0 });
		expect((await newer.embeddings.create({ model: 'my-deployment', input: 'Hello' })).data).toEqual(versioned.data);
		await expect(azure.embeddings.create({ model: 'no-such', input: 'Hello' })).rejects.toMatchObject({ code: 'DeploymentNotFound' });
	});
});

describe('Gemini', () => {
	const content = (text: string): object => ({ parts: [{ text }] });
	const post = async (path: string, body: object): Promise<{ status: number; body: Record<string, unknown> }> => {
		const headers = { 'x-goog-api-key': 'gemini-key', 'content-type': 'application/json' };
		const response = await fetch(`${simulator.origin}/gemini/v1beta/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
		return { status: response.status, body: (await response.json()) as Record<string, unknown> };
	};
	const valuesOf = (embedding: unknown): number[] => (embedding as { values: number[] }).values;

	test('one content; only the full size of gemini-embedding-001 has unit length, and it reports no usage', async () => {
		const whole = (await post('models/gemini-embedding-001:embedContent', { content: content('Hello harbor') })).body;
		expect(Object.keys(whole)).toEqual(['embedding']);
		expect(lengthOf(valuesOf(whole['embedding']))).toBeCloseTo(1, 5);
		const short = { content: content('Hello harbor'), outputDimensionality: 768, taskType: 'RETRIEVAL_QUERY' };
		const cut = (await post('models/gemini-embedding-001:embedContent', short)).body;
		expect(valuesOf(cut['embedding'])).toEqual(valuesOf(whole['embedding']).slice(0, 768));
		expect(lengthOf(valuesOf(cut['embedding']))).toBeLessThan(0.9);
		const newer = (await post('models/gemini-embedding-2:embedContent', short)).body;
		expect(newer['usageMetadata']).toEqual({ promptTokenCount: 3 });
		expect(lengthOf(valuesOf(newer['embedding']))).toBeCloseTo(1, 5);
	});

	test('a batch, whose requests repeat the model', async () => {
		const request = (text: string): object => ({ model: 'models/gemini-embedding-001', content: content(text) });
		const { body } = await post('models/gemini-embedding-001:batchEmbedContents', { requests: [request('a'), request('b')] });
		expect((body['embeddings'] as object[]).map((embedding) => valuesOf(embedding).length)).toEqual([3072, 3072]);
		const other = await post('models/gemini-embedding-001:batchEmbedContents', { requests: [{ content: content('a') }] });
		expect(other).toMatchObject({ status: 400, body: { error: { status: 'INVALID_ARGUMENT' } } });
		const unknown = await post('models/gemini-2.5-pro:embedContent', { content: content('a') });
		expect(unknown).toMatchObject({ status: 404, body: { error: { status: 'NOT_FOUND' } } });
	});

	test('the OpenAI format', async () => {
		const gemini = new OpenAI({ apiKey: 'gemini-key', baseURL: `${simulator.origin}/gemini/v1beta/openai`, maxRetries: 0 });
		const { data } = await gemini.embeddings.create({ model: 'gemini-embedding-001', input: 'Hello', dimensions: 768 });
		expect(data[0]?.embedding).toHaveLength(768);
	});
});

test('embeddings have the faults and the bill of other responses', async () => {
	await simulator.control('DELETE', '/bill');
	const { total_tokens } = (await client.embeddings.create({ model, input: 'Hello harbor' })).usage;
	await expect(client.embeddings.create({ model: 'sim-malformed-json', input: 'Hi' })).rejects.toThrow(/JSON/);
	await expect(client.embeddings.create({ model: 'sim-reset', input: 'Hi' })).rejects.toThrow(/Connection error/);
	await simulator.control('POST', '/faults', { path: '/v1/embeddings', fault: '503', count: 1 });
	await expect(client.embeddings.create({ model, input: 'Hi' })).rejects.toMatchObject({ status: 503 });
	const silent = await client.embeddings.create({ model: 'sim-usage-missing', input: 'Hi' });
	expect(silent.usage).toBeUndefined();
	const { lines } = await simulator.bill();
	expect(lines.find((line) => line.model === model)).toMatchObject({
		complete: 1,
		rejected: 1,
		input_tokens: total_tokens,
		output_tokens: 0,
	});
});
