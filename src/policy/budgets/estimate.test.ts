import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { InputContent } from '../../core/cost-factors.ts';
import { type ClientDialectName, clientDialectNames } from '../../core/dialect-name.ts';
import { clientDialects } from '../../wire/dialects/dialects.ts';
import { estimatedOutputTokens, type InputSize, measureInput } from './estimate.ts';
import { capFor, contextWindowOf, maxInputTokensOf } from './model-output-limits.ts';

function contentOf(members: Record<string, unknown>, dialect: ClientDialectName = 'chat'): InputContent {
	return clientDialects[dialect].inputContent(members);
}

function measure(
	members: Record<string, unknown>,
	model = 'gpt-4o',
	dialect: ClientDialectName = 'chat',
): InputSize & { readonly bytes: number } {
	const text = JSON.stringify({ model, ...members });
	const bytes = Buffer.from(text);
	return { ...measureInput({ bytes, isAscii: text.length === bytes.length }, contentOf(members, dialect), model), bytes: bytes.length };
}

const says = (content: unknown) => ({ messages: [{ role: 'user', content }] });
const image = (url: string) =>
	says([
		{ type: 'text', text: 'What is this?' },
		{ type: 'image_url', image_url: { url } },
	]);

describe('the estimate of input', () => {
	it.each([
		['English, about 4 bytes a token', 'The quick brown fox jumps over the lazy dog. '.repeat(100), 1000, 1300],
		['Chinese, about a token a character', '敏捷的棕色狐狸跳过了懒狗'.repeat(100), 1200, 1300],
		['half of each', `${'敏捷的棕色狐狸跳过了懒狗'.repeat(50)}${'quick brown fox jumps over. '.repeat(50)}`, 900, 1050],
	])('of %s', (_name, text, min, max) => {
		const { estimatedTokens } = measure(says(text));
		expect(estimatedTokens).toBeGreaterThanOrEqual(min);
		expect(estimatedTokens).toBeLessThanOrEqual(max);
	});

	it('takes no notice of how long an attachment’s data is', () => {
		const small = measure(image(`data:image/png;base64,${'A'.repeat(100)}`)).estimatedTokens;
		const large = measure(image(`data:image/png;base64,${'A'.repeat(1_000_000)}`)).estimatedTokens;
		expect(small).toBeGreaterThan(1500);
		expect(large - small).toBeLessThan(20);
	});

	it.each(['gpt-4o', 'our-deployment'])('of %s is no more than the model can read, whatever the request holds', (model) => {
		const many = measure(says(Array.from({ length: 120_000 }, () => ({ type: 'image_url' }))), model);
		expect(many.writtenTokens).toBeGreaterThan(180_000_000);
		expect(many.estimatedTokens).toBe(maxInputTokensOf(model));
		expect(many.highestTokens).toBe(Math.max(contextWindowOf(model), maxInputTokensOf(model)));
		const long = measure(says('word '.repeat(9_000_000)), model);
		expect([long.estimatedTokens, long.highestTokens]).toEqual([maxInputTokensOf(model), maxInputTokensOf(model)]);
	});

	it('is at least a token, and never above the bound', () => {
		expect(measureInput({ bytes: Buffer.alloc(0), isAscii: true }, contentOf({}), 'm').estimatedTokens).toBe(1);
		fc.assert(
			fc.property(fc.jsonValue(), fc.string(), fc.constantFrom(...clientDialectNames), (value, text, dialect) => {
				const members = { messages: [{ role: 'user', content: value }, { content: text }], system: value };
				const { estimatedTokens, highestTokens } = measure(members, 'gpt-4o', dialect);
				return Number.isSafeInteger(estimatedTokens) && estimatedTokens >= 1 && estimatedTokens <= highestTokens;
			}),
		);
	});
});

describe('the bound on input', () => {
	it('of text is its bytes', () => {
		const { highestTokens, bytes } = measure({ ...says('hello'), tools: [], response_format: { type: 'text' } });
		expect(highestTokens).toBe(bytes);
	});

	it.each<[string, Record<string, unknown>, number, ClientDialectName?]>([
		['tools', { tools: [{ type: 'function', function: { name: 'own' } }] }, 2048],
		['functions', { functions: [{ name: 'own' }] }, 2048],
		['a schema', { response_format: { type: 'json_schema', json_schema: {} } }, 2048],
		['a schema of messages', { output_config: { format: { type: 'json_schema', schema: {} } } }, 2048, 'messages'],
		['tools and a schema', { tools: [{ name: 'own' }], output_format: { type: 'json_schema', schema: {} } }, 4096, 'messages'],
	])('of text with %s has room for what providers add to them', (_name, members, added, dialect) => {
		const { highestTokens, bytes } = measure({ ...says('hello'), ...members }, 'gpt-4o', dialect);
		expect(highestTokens).toBe(bytes + added);
	});

	it('counts tools that the provider defines and the caller runs', () => {
		const { highestTokens, bytes } = measure({
			...says('hello'),
			tools: [{ type: 'bash_20250124' }, { name: 'own' }, { type: 'function' }],
		});
		expect(highestTokens).toBe(bytes + 2048 + 2048);
	});

	it.each<[string, Record<string, unknown>, ClientDialectName?]>([
		['an image by address', image('https://example.com/a.png')],
		['an image', image('data:image/png;base64,AAAA')],
		['a document', says([{ type: 'document', source: { type: 'file', file_id: 'f' } }]), 'messages'],
		['a part of unknown type', says([{ type: 'hologram' }])],
		['an image in a tool’s result', says([{ type: 'tool_result', content: [{ type: 'image', source: { data: 'AA' } }] }]), 'messages'],
		['an image in `system`', { ...says('hi'), system: [{ type: 'image' }] }, 'messages'],
		['content that the provider keeps', { ...says('hi'), extra_body: { google: { cached_content: 'cachedContents/1' } } }],
		['an earlier spoken answer', { messages: [{ role: 'assistant', audio: { id: 'a' } }] }],
	])('of %s is the context window', (_name, members, dialect) => {
		expect(measure(members, 'gpt-4o', dialect).highestTokens).toBe(contextWindowOf('gpt-4o'));
	});

	it.each<[string, Record<string, unknown>, ClientDialectName?]>([
		['a server tool', { ...says('hi'), tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, 'messages'],
		['a tool of unknown type', { ...says('hi'), tools: [{ type: 'time_travel_20300101' }] }],
		['search options', { ...says('hi'), web_search_options: {} }],
		['tool servers', { ...says('hi'), mcp_servers: [] }, 'messages'],
	])('with %s is the context window, once a round', (_name, members, dialect) => {
		expect(measure(members, 'gpt-4o', dialect).highestTokens).toBe(contextWindowOf('gpt-4o') * 10);
	});
});

describe('the cap on output', () => {
	it.each([
		['gpt-4o', undefined, { tokens: 16_384, shouldWrite: true }],
		['gpt-4o-2024-05-13', undefined, { tokens: 4096, shouldWrite: true }],
		['gpt-5.6-luna', undefined, { tokens: 128_000, shouldWrite: true }],
		['gpt-5-chat-latest', undefined, { tokens: 16_384, shouldWrite: true }],
		['claude-opus-4-5-20251101', 1000, { tokens: 1000, shouldWrite: false }],
		['claude-opus-4-5-20251101', 64_001, { tokens: 64_000, shouldWrite: true }],
		['claude-sonnet-4-6', 128_000, { tokens: 128_000, shouldWrite: false }],
		['o3-mini', 0, { tokens: 0, shouldWrite: false }],
		['our-deployment', undefined, { tokens: 16_384, shouldWrite: true }],
		['our-deployment', 500_000, { tokens: 500_000, shouldWrite: false }],
		['our-deployment', 2 ** 31 - 1, { tokens: 1_050_000, shouldWrite: true }],
	])('of %s asked for %s is %j', (model, requested, expected) => {
		expect(capFor(model, requested)).toEqual(expected);
	});
});

it('an estimate counts no more output than the caller allows, for each choice', () => {
	expect(
		[
			[16_384, 1],
			[10, 1],
			[10, 3],
			[100_000, 128],
		].map(([cap = 0, choices = 0]) => estimatedOutputTokens(cap, choices)),
	).toEqual([1024, 10, 30, 131_072]);
});
