import { describe, expect, it } from 'vitest';
import { readRecordings, recordedBytes } from '../../../../test/support/recordings.ts';
import { runSynchronously } from '../../../core/cooperative-task.ts';
import { Rejection } from '../../../core/rejection.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { embeddings } from './embeddings.ts';
import { fittingSteps, packFloats, unpackFloats } from './encoding.ts';

function verdict(body: Record<string, unknown>): string {
	try {
		embeddings.validate({ model: 'm', input: 'hi', ...body });
	} catch (cause) {
		if (cause instanceof Rejection) return `${cause.code} ${cause.param}`;
		throw cause;
	}
	return 'accepted';
}

const texts = (count: number): string[] => Array.from({ length: count }, () => 'x');

it.each([
	[{ input: undefined }, 'field_missing input'],
	[{ input: null }, 'field_invalid input'],
	[{ input: '' }, 'field_invalid input'],
	[{ input: 5 }, 'field_invalid input'],
	[{ input: {} }, 'field_invalid input'],
	[{ input: [] }, 'field_invalid input'],
	[{ input: ['a', 'b', 'c', 4] }, 'field_invalid input[3]'],
	[{ input: ['a', ''] }, 'field_invalid input[1]'],
	[{ input: ['a', null] }, 'field_invalid input[1]'],
	[{ input: [1, 'a'] }, 'field_invalid input[1]'],
	[{ input: [1, -1] }, 'field_invalid input[1]'],
	[{ input: [1, 2.5] }, 'field_invalid input[1]'],
	[{ input: [null] }, 'field_invalid input[0]'],
	[{ input: [{}] }, 'field_invalid input[0]'],
	[{ input: [[1], []] }, 'field_invalid input[1]'],
	[{ input: [[1], 'a'] }, 'field_invalid input[1]'],
	[{ input: [[1], [2, 'a']] }, 'field_invalid input[1][1]'],
	[{ input: texts(2049) }, 'field_invalid input'],
	[{ input: Array.from({ length: 2049 }, () => [1]) }, 'field_invalid input'],
	[{ encoding_format: 'hex' }, 'field_invalid encoding_format'],
	[{ dimensions: 0 }, 'field_invalid dimensions'],
	[{ stream: true }, 'field_invalid stream'],
	[{ model: '' }, 'field_invalid model'],
])('rejects %j', (body, expected) => {
	expect(verdict(body)).toBe(expected);
});

it.each([
	[{ input: texts(2048) }],
	[{ input: Array.from({ length: 8192 }, () => 7) }],
	[{ input: [[1, 2], [3]] }],
	[{ encoding_format: null, dimensions: null, stream: false }],
	[{ encoding_format: 'base64', dimensions: 256, unknown: true }],
])('accepts what vendors judge', (body) => {
	expect(verdict(body)).toBe('accepted');
});

it('names the number of entries and the limit', () => {
	expect(() => embeddings.validate({ model: 'm', input: texts(3000) })).toThrow('`input` has 3000 entries, and at most 2048 are allowed');
});

function fitEncoding(body: Buffer, request: JsonObject): string | undefined {
	return runSynchronously(fittingSteps(body, request))?.toString();
}

describe('encoding', () => {
	const [base64, floats] = ['openai-base64', 'v-openai-float'].map((name) =>
		readRecordings('embeddings').find((recording) => recording.name === `embeddings/${name}.json`),
	);
	if (base64 === undefined || floats === undefined) throw new Error('the recordings are missing');

	it('packs little-endian 32-bit floats', () => {
		expect(packFloats([1, -2])).toBe(Buffer.from([0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0]).toString('base64'));
		expect(unpackFloats(packFloats([0.5, -0.25]))).toEqual([0.5, -0.25]);
	});

	it('leaves a response that has it unread', () => {
		expect(fitEncoding(recordedBytes(base64), { encoding_format: 'base64' })).toBeUndefined();
		for (const request of [{}, { encoding_format: 'float' }, { encoding_format: null }]) {
			expect(fitEncoding(recordedBytes(floats), request)).toBeUndefined();
		}
	});

	it('decodes base64 for a client that asked for numbers, and packs numbers for one that asked for base64', () => {
		const decoded = JSON.parse(fitEncoding(recordedBytes(base64), {}) ?? '') as { data: { embedding: number[] }[] };
		expect(decoded.data[0]?.embedding).toHaveLength(1536);
		expect(Math.hypot(...(decoded.data[0]?.embedding ?? []))).toBeCloseTo(1, 4);
		const packed = fitEncoding(recordedBytes(floats), { encoding_format: 'base64' }) ?? '';
		const { data, usage, model } = JSON.parse(packed) as { data: { embedding: string; index: number }[]; usage: unknown; model: string };
		expect(data.map(({ embedding, index }) => [index, unpackFloats(embedding).length])).toEqual([
			[0, 5],
			[1, 5],
		]);
		expect([usage, model]).toEqual([{ prompt_tokens: 12, total_tokens: 12 }, 'text-embedding-3-small']);
		expect(fitEncoding(Buffer.from(packed), { encoding_format: 'base64' })).toBeUndefined();
	});

	it.each(['{"error":{"message":"no"}}', '{"object":"embedding"}', '{"embedding": oops', '{"data":[{"embedding":{"int8":[1]}}]}'])(
		'leaves %s as it is',
		(body) => {
			const fitted = fitEncoding(Buffer.from(body), { encoding_format: 'base64' });
			expect(fitted ?? body).toBe(body);
		},
	);

	it('keeps every byte around the vectors', () => {
		const one = packFloats([1]);
		const body = Buffer.from(`{ "data":[{"embedding" : [1.0 ],"object":"embedding"}, {"embedding":[[1]]},{"embedding":[1]}],"é":1e0 }`);
		const expected = `{ "data":[{"embedding" : "${one}","object":"embedding"}, {"embedding":[[1]]},{"embedding":"${one}"}],"é":1e0 }`;
		expect(fitEncoding(body, { encoding_format: 'base64' })).toBe(expected);
	});

	it('yields between a few vectors', () => {
		const body = Buffer.from(`{"data":[${'{"embedding":[1]},'.repeat(100)}{"embedding":[1]}]}`);
		expect([...fittingSteps(body, { encoding_format: 'base64' })].length).toBeGreaterThan(20);
	});

	it('leaves other numbers than floats as the vendor packs them', () => {
		expect(fitEncoding(Buffer.from('{"data":[{"embedding":[1,2]}]}'), { encoding_format: 'base64', output_dtype: 'int8' })).toBeUndefined();
	});
});

it('reads the usage of vendors that report only the total', () => {
	const { usage } = (readRecordings('embeddings').find(({ name }) => name.includes('voyage'))?.response.json ?? {}) as { usage?: unknown };
	expect(embeddings.usage.usageOf(usage)).toMatchObject({ inputTokens: 18, outputTokens: 0 });
	expect(embeddings.usage.usageOf({ prompt_tokens: 7, completion_tokens: 0, total_tokens: 7 })).toMatchObject({
		inputTokens: 7,
		outputTokens: 0,
	});
	expect(embeddings.usage.usageOf({ prompt_tokens: -1 })).toBeUndefined();
});
