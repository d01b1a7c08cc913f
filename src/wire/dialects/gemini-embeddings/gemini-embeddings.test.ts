import { expect, it } from 'vitest';
import { UpstreamError } from '../../../core/upstream-error.ts';
import type { ResponseContext } from '../../conversation/response.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { responseTranslation, translateRequest } from '../../translate.ts';
import { unpackFloats } from '../embeddings/encoding.ts';

const target = { model: 'gemini-embedding-001', maxOutputTokens: undefined };
const adapt = (request: JsonObject) => translateRequest('embeddings', 'gemini-embeddings', { model: 'alias', ...request }, target);
const { translateResponse, translateError } = responseTranslation('embeddings', 'gemini-embeddings');
const call = (request: JsonObject): ResponseContext => ({
	request: { input: ['a', 'b'], ...request },
	model: 'alias',
	requestId: 'r',
	nowSeconds: 7,
	estimatedInputTokens: 5,
});

it('writes each text as a request of the batch', () => {
	const entry = (text: string) => ({
		model: 'models/gemini-embedding-001',
		content: { parts: [{ text }] },
		taskType: 'RETRIEVAL_QUERY',
		outputDimensionality: 768,
	});
	expect(adapt({ input: ['a', 'b'], dimensions: 768, input_type: 'query', encoding_format: 'base64', user: 'u' })).toEqual({
		body: { requests: [entry('a'), entry('b')] },
		warnings: [],
	});
	expect(adapt({ input: 'a', task_type: 'CLUSTERING', truncation: true })).toEqual({
		body: { requests: [{ model: 'models/gemini-embedding-001', content: { parts: [{ text: 'a' }] }, taskType: 'CLUSTERING' }] },
		warnings: ['truncation: ignored'],
	});
	expect(adapt({ input: 'a', input_type: 'poem' }).warnings).toEqual(['input_type: ignored']);
	expect(adapt({ input: 'a', task_type: ['CLUSTERING'] }).warnings).toEqual(['task_type: ignored']);
	expect(adapt({ input: 'a', task_type: null }).warnings).toEqual([]);
});

it('rejects token ids, and more texts than Google takes', () => {
	expect(() => adapt({ input: [1, 2] })).toThrow('`input` has token ids');
	expect(() => adapt({ input: Array.from({ length: 101 }, () => 'x') })).toThrow('101 entries, and Gemini takes at most 100');
});

it('writes vectors in the requested encoding, with unit length', () => {
	const body = { embeddings: [{ values: [3, 4] }, { values: [0.6, 0.8] }] };
	expect(translateResponse(body, call({}))).toEqual({
		object: 'list',
		data: [
			{ object: 'embedding', index: 0, embedding: [0.6, 0.8] },
			{ object: 'embedding', index: 1, embedding: [0.6, 0.8] },
		],
		model: 'alias',
		usage: { prompt_tokens: 5, total_tokens: 5 },
	});
	const packed = translateResponse({ ...body, usageMetadata: { promptTokenCount: 3 } }, call({ encoding_format: 'base64' }));
	const [first] = packed['data'] as { embedding: string }[];
	expect(unpackFloats(first?.embedding ?? '').map((value) => value.toFixed(3))).toEqual(['0.600', '0.800']);
	expect(packed['usage']).toEqual({ prompt_tokens: 3, total_tokens: 3 });
});

it('leaves vectors of unit length and of no length as they are', () => {
	const values = [0.018040094, -0.9998372];
	const data = translateResponse({ embeddings: [{ values }, { values: [0, 0] }] }, call({}))['data'];
	expect(data).toMatchObject([{ embedding: values }, { embedding: [0, 0] }]);
});

it.each([
	[{}],
	[{ embeddings: [{ values: [1] }] }],
	[{ embeddings: [{ values: [1] }, {}] }],
	[{ embeddings: [{ values: [1] }, { values: [] }] }],
])('rejects the response %j', (body) => {
	expect(() => translateResponse(body, call({}))).toThrow(UpstreamError);
});

it('writes Google’s errors as OpenAI’s', () => {
	const error = { error: { code: 400, message: 'No.', status: 'INVALID_ARGUMENT' } };
	expect(translateError(400, error, call({})).body).toMatchObject({ error: { message: 'No.', type: 'invalid_request_error' } });
});
