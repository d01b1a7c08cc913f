import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
	chatPath,
	GatewayBench,
	HandStream,
	messagesPath,
	sentText,
	sseResponse,
	summaryOf,
	testSettings,
} from '../../../test/support/gateway-bench.ts';
import { dearestProvider } from '../../../test/support/most-expensive-provider.ts';
import type { HttpResponse } from '../../core/handler.ts';
import type { GatewaySettings } from './gateway-settings.ts';

function benchWith(monthlyBudgetUsd: string, more: Partial<GatewaySettings['budgets']> = {}): GatewayBench {
	const unlimited = { requestsPerMinute: null, dailyTokens: null };
	return new GatewayBench({
		tiers: { sandbox: { ...unlimited, monthlyBudgetUsd: null }, standard: { ...unlimited, monthlyBudgetUsd } },
		budgets: { ...testSettings.budgets, reservation: 'worst_case', ...more },
	});
}

let requested = 0;

function ask(bench: GatewayBench, path: string, body: unknown): Promise<HttpResponse> {
	return bench.ask(path, JSON.stringify(body), {}, { id: `worst-${++requested}` });
}

const text = fc.oneof(
	fc.string({ unit: 'binary', maxLength: 300 }),
	fc.constantFrom('', 'a', 'Write a poem. ', '敏捷的棕色狐狸', '👩‍👩‍👧‍👦', '"\\\u0001', 'cache_control'),
);
const mark = fc.constantFrom(undefined, { type: 'ephemeral' }, { type: 'ephemeral', ttl: '5m' }, { type: 'ephemeral', ttl: '1h' });
const schema = fc.dictionary(fc.stringMatching(/^[a-z]{1,12}$/), fc.constantFrom({ type: 'string' }, { type: 'number' }), { maxKeys: 5 });
const cap = fc.integer({ min: 20, max: 3000 });
const caps = { chat: fc.option(cap, { nil: undefined }), messages: cap };
const pixel = 'iVBORw0KGgo=';

const chatRequests = fc
	.record({
		model: fc.constantFrom('gpt-4o', 'gpt-5.6-sol', 'claude-sonnet-4-5', 'claude-opus-4-8', 'gemini-2.5-pro', 'our-gpt'),
		max_completion_tokens: caps.chat,
		turns: fc.array(fc.record({ role: fc.constantFrom('system', 'user', 'assistant'), content: text.map((words) => `${words}.`) }), {
			maxLength: 4,
		}),
		question: text,
		hasImage: fc.boolean(),
		tools: fc.array(fc.record({ description: text, properties: schema }), { maxLength: 3 }),
		response: fc.option(schema, { nil: undefined }),
	})
	.map(({ turns, question, hasImage, tools, response, ...request }) => ({
		...request,
		messages: [
			...turns,
			{
				role: 'user',
				content: [
					{ type: 'text', text: `${question}?` },
					...(hasImage ? [{ type: 'image_url', image_url: { url: `data:image/png;base64,${pixel}` } }] : []),
				],
			},
		],
		...(tools.length > 0 && {
			tools: tools.map(({ description, properties }, index) => ({
				type: 'function',
				function: { name: `tool_${index}`, description, parameters: { type: 'object', properties } },
			})),
		}),
		...(response !== undefined && {
			response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object', properties: response } } },
		}),
	}));

const messagesRequests = fc
	.record({
		model: fc.constantFrom('claude-sonnet-4-5', 'claude-opus-4-8', 'gpt-4o', 'gpt-5.6-sol', 'gemini-2.5-pro'),
		max_tokens: caps.messages,
		system: fc.array(fc.record({ text, cache_control: mark }), { maxLength: 2 }),
		questions: fc.array(fc.record({ text, cache_control: mark }), { minLength: 1, maxLength: 4 }),
		hasImage: fc.boolean(),
		tools: fc.array(fc.record({ description: text, properties: schema, cache_control: mark }), { maxLength: 3 }),
		hasBash: fc.boolean(),
	})
	.map(({ system, questions, hasImage, tools, hasBash, ...request }) => ({
		...request,
		system: system.map((part) => ({ type: 'text', ...part, text: `${part.text}.` })),
		messages: [
			{
				role: 'user',
				content: [
					...questions.map((part) => ({ type: 'text', ...part, text: `${part.text}?` })),
					...(hasImage ? [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } }] : []),
				],
			},
		],
		tools: [
			...tools.map(({ properties, ...tool }, index) => ({
				name: `tool_${index}`,
				...tool,
				input_schema: { type: 'object', properties },
			})),
			...(hasBash && request.model.startsWith('claude') ? [{ type: 'bash_20250124', name: 'bash' }] : []),
		],
	}));

const requests = fc.oneof(
	chatRequests.map((body) => ({ path: chatPath, body })),
	messagesRequests.map((body) => ({ path: messagesPath, body })),
);

describe('the reservation of a request under `worst_case`', () => {
	it('is never below the bill of the most expensive provider: texts, tools, schemas, images and caches, in every format', async () => {
		const bench = benchWith('900000000', { unknownPrice: 'default_rate' });
		bench.respond = dearestProvider;
		await fc.assert(
			fc.asyncProperty(requests, async ({ path, body }) => {
				const response = await ask(bench, path, body);
				expect([response.status, response.body]).toEqual([200, expect.anything()]);
				await bench.gateway.settled();
				const [entry] = (await bench.ledger.list({ limit: 1 })).rows;
				expect(entry?.closed).toMatchObject({ outcome: 'complete', isEstimated: false });
				expect(entry?.closed?.costNanoUsd).toBeGreaterThan(0n);
				expect(entry?.closed?.costNanoUsd).toBeLessThanOrEqual(entry?.reservedNanoUsd ?? -1n);
			}),
			{ numRuns: 600 },
		);
	});

	it('is bytes and cap at the price of input and output if the request has no tools, no schema and no caching', async () => {
		const bench = benchWith('10');
		bench.respond = dearestProvider;
		const bare = { model: 'claude-sonnet-4-5', max_tokens: 100, messages: [{ role: 'user', content: '' }] };
		const content = 'x'.repeat(495 - JSON.stringify(bare).length);
		const body = { ...bare, messages: [{ role: 'user', content }] };
		expect(JSON.stringify(body)).toHaveLength(495);
		await ask(bench, messagesPath, body);
		// Worst case: 495 tokens at 3 USD and 100 tokens at 15 USD a million.
		expect((await bench.ledger.list({ limit: 1 })).rows[0]?.reservedNanoUsd).toBe(495n * 3000n + 100n * 15_000n);
	});

	it.each([
		['gpt-4o', chatPath],
		['claude-sonnet-4-5', messagesPath],
	])('lets 300 requests of 210 input and 250 output tokens to %s run at once on 10 USD', async (model, path) => {
		const bench = benchWith('10');
		const streams: HandStream[] = [];
		bench.respond = () => {
			const stream = new HandStream();
			streams.push(stream);
			return sseResponse(stream);
		};
		const body = { model, max_tokens: 500, stream: true, messages: [{ role: 'user', content: 'word '.repeat(168) }] };
		const responses = await Promise.all(Array.from({ length: 300 }, () => ask(bench, path, body)));
		expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
		expect(streams).toHaveLength(300);
	});

	it('includes the maximum that tools, schemas and marks can add', async () => {
		const bench = benchWith('900000000');
		bench.respond = dearestProvider;
		const plain = { model: 'claude-sonnet-4-5', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] };
		const marked = { ...plain, system: [{ type: 'text', text: 'hi', cache_control: { type: 'ephemeral', ttl: '1h' } }] };
		const reserved: bigint[] = [];
		for (const body of [plain, { ...plain, tools: [{ name: 'a', input_schema: {} }] }, marked]) {
			await ask(bench, messagesPath, body);
			reserved.push((await bench.ledger.list({ limit: 1 })).rows[0]?.reservedNanoUsd ?? -1n);
		}
		const bytes = (body: unknown): bigint => BigInt(JSON.stringify(body).length);
		const output = 100n * 15_000n;
		expect(reserved[0]).toBe(bytes(plain) * 3000n + output);
		expect(reserved[1]).toBeGreaterThan((bytes(plain) + 2048n) * 3000n + output);
		expect(reserved[2]).toBe(bytes(marked) * 6000n + output);
	});
});

describe('the default output cap', () => {
	const defaultOutputCaps = { default: 4000, models: { 'gpt-4o': 500 }, teams: { 'team-1': { models: { 'gpt-4.1': 70 } } } };

	it.each(['estimate', 'worst_case'] as const)('is written into requests without one, under %s', async (reservation) => {
		const bench = benchWith('10', { reservation, defaultOutputCaps });
		bench.respond = dearestProvider;
		const messages = [{ role: 'user', content: 'hi' }];
		for (const [model, expected] of [
			['gpt-4o', { max_completion_tokens: 500 }],
			['gpt-4.1', { max_completion_tokens: 70 }],
			['claude-sonnet-4-5', { max_tokens: 4000 }],
			['gemini-2.5-pro', { generationConfig: { maxOutputTokens: 4000 } }],
		] as const) {
			const response = await ask(bench, chatPath, { model, messages });
			expect(response.status).toBe(200);
			expect(JSON.parse(sentText(bench.sent.at(-1) ?? expect.fail('nothing was sent')))).toMatchObject(expected);
			if (model === 'gpt-4o') expect(response.headers['x-gateway-warnings']).toBe('the output is capped at 500 tokens, for a budget');
		}
	});

	it('keeps a cap of the request, and reduces the worst case', async () => {
		const bench = benchWith('0.05', { defaultOutputCaps });
		bench.respond = dearestProvider;
		const messages = [{ role: 'user', content: 'hi' }];
		expect((await ask(bench, chatPath, { model: 'gpt-4o', messages })).status).toBe(200);
		expect((await ask(bench, chatPath, { model: 'gpt-4o', messages, max_tokens: 900 })).status).toBe(200);
		expect(JSON.parse(sentText(bench.sent[1] ?? expect.fail('nothing was sent')))).toMatchObject({ max_tokens: 900 });
		expect(summaryOf(await ask(benchWith('0.05'), chatPath, { model: 'gpt-4o', messages }))).toBe('429 budget_exceeded');
	});
});
