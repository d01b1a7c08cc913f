import { describe, expect, it } from 'vitest';
import { chatPath, errorOf, GatewayBench, jsonResponse, messagesPath, testSettings } from '../../../test/support/gateway-bench.ts';
import type { ModelCapabilities } from '../../wire/conversation/model-capabilities.ts';
import type { GatewaySettings } from './gateway-settings.ts';

const usage = { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 };
const message = { role: 'assistant', content: 'hi' };
const httpResponse = JSON.stringify({
	id: 'x',
	object: 'chat.completion',
	created: 1,
	model: 'm',
	choices: [{ index: 0, message, finish_reason: 'stop' }],
	usage,
});

function benchWith(record: ModelCapabilities, more: Partial<GatewaySettings> = {}): GatewayBench {
	const providers = testSettings.providers.map((provider) =>
		provider.name === 'provider_d' ? { ...provider, modelCapabilities: { 'our-gpt': record } } : provider,
	);
	const bench = new GatewayBench({ providers, ...more });
	bench.respond = () => jsonResponse(200, httpResponse);
	return bench;
}

function sentTo({ sent }: GatewayBench): Record<string, unknown> {
	const body = sent[0]?.body;
	return JSON.parse(Buffer.isBuffer(body) ? body.toString() : 'null') as Record<string, unknown>;
}
const chat = (more: object = {}): string => JSON.stringify({ model: 'our-gpt', messages: [{ role: 'user', content: 'hi' }], ...more });

it('a deployment has the price of the model that it is known as', async () => {
	for (const [record, cost] of [
		[{}, 0n],
		[{ knownAs: 'gpt-5' }, 6_250_000n],
	] as const) {
		const response = await benchWith(record).ask(chatPath, chat());
		expect([response.record?.model, response.record?.costNanoUsd]).toEqual(['our-gpt', cost]);
	}
});

it('its output is capped like that model’s, or as configured', async () => {
	const worst = { budgets: { ...testSettings.budgets, reservation: 'worst_case' as const } };
	for (const [record, cap] of [
		[{}, 16_384],
		[{ knownAs: 'gpt-5' }, 128_000],
		[{ knownAs: 'gpt-5', maxOutputTokens: 777 }, 777],
	] as const) {
		const bench = benchWith(record, worst);
		await bench.ask(chatPath, chat());
		expect(sentTo(bench)['max_completion_tokens'] ?? sentTo(bench)['max_tokens']).toBe(cap);
	}
});

it('its capabilities determine how requests of the other format are written', async () => {
	const request = JSON.stringify({ model: 'our-gpt', max_tokens: 50, temperature: 0.5, messages: [{ role: 'user', content: 'hi' }] });
	const unknown = benchWith({});
	await unknown.ask(messagesPath, request);
	expect(sentTo(unknown)).toMatchObject({ max_tokens: 50, temperature: 0.5, model: 'our-gpt' });
	const known = benchWith({ knownAs: 'gpt-5' });
	const response = await known.ask(messagesPath, request);
	expect(sentTo(known)).toMatchObject({ max_completion_tokens: 50, model: 'our-gpt' });
	expect(sentTo(known)).not.toHaveProperty('temperature');
	expect(response.headers['x-gateway-warnings']).toContain('temperature');
	const said = benchWith({ knownAs: 'gpt-5', sampling: 'full', tokenParam: 'max_tokens' });
	await said.ask(messagesPath, request);
	expect(sentTo(said)).toMatchObject({ max_tokens: 50, temperature: 0.5 });
});

describe('every capability', () => {
	const record = (said: ModelCapabilities, owner: 'alias' | 'model'): Partial<GatewaySettings> => ({
		routing: {
			...testSettings.routing,
			aliases: { a: 'provider_a/claude-haiku-4-5', b: 'provider_b/gpt-4o', c: 'provider_c/gemini-2.5-flash' },
		},
		...(owner === 'alias'
			? { aliasCapabilities: { a: said, b: said, c: said } }
			: {
					providers: testSettings.providers.map((provider) => ({
						...provider,
						modelCapabilities: { 'claude-haiku-4-5': said, 'gpt-4o': said, 'gemini-2.5-flash': said },
					})),
				}),
	});
	const schema = { type: 'object', properties: {}, additionalProperties: false };
	const requested: Readonly<Record<'chat' | 'messages', Readonly<Record<string, unknown>>>> = {
		chat: { temperature: 0.9, stop: ['X'] },
		messages: { temperature: 0.9, stop_sequences: ['X'], max_tokens: 3000, system: 's' },
	};
	const tool = { name: 'f', input_schema: schema };

	async function sentBy(format: 'chat' | 'messages', model: string, more: object, settings: Partial<GatewaySettings>) {
		const bench = new GatewayBench(settings);
		const body = { model, messages: [{ role: 'user', content: 'hi' }], ...requested[format], ...more };
		const response = await bench.ask(format === 'chat' ? chatPath : messagesPath, JSON.stringify(body));
		return { response, request: bench.sent[0], body: bench.sent.length === 0 ? undefined : sentTo(bench) };
	}

	/** Picks the members that `shape` has. */
	function picked(value: unknown, shape: unknown): unknown {
		if (typeof shape !== 'object' || shape === null || typeof value !== 'object' || value === null) return value;
		if (Array.isArray(shape) || Array.isArray(value)) {
			return Array.isArray(shape) && Array.isArray(value) ? value.map((one: unknown, at) => picked(one, shape[at])) : value;
		}
		const members = value as Readonly<Record<string, unknown>>;
		return Object.fromEntries(Object.entries(shape).map(([name, inner]) => [name, picked(members[name], inner)]));
	}

	const prefilled = {
		messages: [
			{ role: 'user', content: 'hi' },
			{ role: 'assistant', content: 'Well' },
		],
	};
	const later = {
		messages: [
			{ role: 'user', content: 'hi' },
			{ role: 'system', content: 'now' },
			{ role: 'user', content: 'go' },
		],
	};
	type Row = readonly [fact: ModelCapabilities, format: 'chat' | 'messages', alias: string, more: object, body: object];
	const rows: readonly Row[] = [
		[{ maxOutputTokens: 77 }, 'chat', 'a', { max_tokens: 500 }, { max_tokens: 77 }],
		[{ maxOutputTokens: 77 }, 'chat', 'c', { max_tokens: 500 }, { generationConfig: { maxOutputTokens: 77 } }],
		[{ maxOutputTokens: 77 }, 'messages', 'b', {}, { max_tokens: 77 }],
		[{ maxOutputTokens: 77 }, 'messages', 'c', {}, { generationConfig: { maxOutputTokens: 77 } }],
		[{ defaultMaxTokens: 55 }, 'chat', 'a', {}, { max_tokens: 55 }],
		[{ defaultMaxTokens: 55 }, 'chat', 'a', { stream: true }, { max_tokens: 55 }],
		[{ defaultMaxTokens: 55, maxOutputTokens: 50 }, 'chat', 'a', {}, { max_tokens: 50 }],
		[{ defaultMaxTokens: 55 }, 'chat', 'c', {}, { generationConfig: { maxOutputTokens: 55 } }],
		[{ sampling: 'none' }, 'chat', 'a', {}, { temperature: undefined }],
		[{ sampling: 'none' }, 'chat', 'c', {}, { generationConfig: { temperature: undefined } }],
		[{ sampling: 'none' }, 'messages', 'b', {}, { temperature: undefined }],
		[{ sampling: 'none' }, 'messages', 'c', { top_k: 4 }, { generationConfig: { temperature: undefined, topK: undefined } }],
		[{ sampling: 'full', knownAs: 'claude-opus-4-8' }, 'chat', 'a', {}, { temperature: 0.9 }],
		[{ temperatureMax: 0.5 }, 'chat', 'a', {}, { temperature: 0.5 }],
		[{ temperatureMax: 0.5 }, 'chat', 'c', {}, { generationConfig: { temperature: 0.5 } }],
		[{ temperatureMax: 0.5 }, 'messages', 'b', {}, { temperature: 0.5 }],
		[{ temperatureMax: 0.5 }, 'messages', 'c', {}, { generationConfig: { temperature: 0.5 } }],
		[{ midSystem: true }, 'chat', 'a', later, { messages: [{ role: 'user' }, { role: 'system' }, { role: 'user' }] }],
		[{ thinking: 'none' }, 'chat', 'a', { reasoning_effort: 'high' }, { thinking: undefined }],
		[
			{ thinking: 'adaptive' },
			'chat',
			'a',
			{ reasoning_effort: 'high' },
			{ thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'high' } },
		],
		[
			{ thinking: 'adaptive' },
			'chat',
			'c',
			{ reasoning_effort: 'high' },
			{ generationConfig: { thinkingConfig: { thinkingLevel: 'high' } } },
		],
		[
			{ thinking: 'enabled', knownAs: 'gemini-3-pro' },
			'chat',
			'c',
			{ reasoning_effort: 'low' },
			{ generationConfig: { thinkingConfig: { thinkingBudget: 1024 } } },
		],
		[{ thinking: 'adaptive' }, 'messages', 'b', { output_config: { effort: 'low' } }, { reasoning_effort: 'low' }],
		[{ efforts: ['low'], thinking: 'adaptive' }, 'chat', 'a', { reasoning_effort: 'high' }, { output_config: { effort: 'low' } }],
		[{ efforts: ['low'] }, 'messages', 'b', { output_config: { effort: 'high' } }, { reasoning_effort: 'low' }],
		[
			{ efforts: ['low'], thinking: 'adaptive' },
			'messages',
			'c',
			{ output_config: { effort: 'high' } },
			{ generationConfig: { thinkingConfig: { thinkingLevel: 'low' } } },
		],
		[{ tokenParam: 'max_completion_tokens' }, 'messages', 'b', {}, { max_completion_tokens: 3000, max_tokens: undefined }],
		[{ systemRole: 'developer' }, 'messages', 'b', {}, { messages: [{ role: 'developer' }, { role: 'user' }] }],
		[{ stop: false }, 'chat', 'a', {}, { stop_sequences: undefined }],
		[{ stop: false }, 'chat', 'c', {}, { generationConfig: { stopSequences: undefined } }],
		[{ stop: false }, 'messages', 'b', {}, { stop: undefined }],
		[{ stop: false }, 'messages', 'c', {}, { generationConfig: { stopSequences: undefined } }],
		[{ toolsNeedEffortNone: true }, 'messages', 'b', { tools: [tool] }, { reasoning_effort: 'none' }],
		[{ anthropicVersion: '2026-10-21' }, 'chat', 'a', {}, { temperature: undefined }],
	];

	it.each(
		rows.flatMap((entry) =>
			(['alias', 'model'] as const).map((owner) => [JSON.stringify(entry[0]), entry[1], entry[2], owner, entry] as const),
		),
	)(
		'%s changes the upstream request for a %s client’s request to %s, set for the %s',
		async (_fact, _format, _alias, owner, [fact, format, alias, more, expected]) => {
			const { knownAs } = fact;
			const before = await sentBy(format, alias, more, record({ knownAs }, owner));
			expect(picked(before.body, expected)).not.toEqual(expected);
			const { body } = await sentBy(format, alias, more, record(fact, owner));
			expect(picked(body, expected)).toEqual(expected);
		},
	);

	it.each([
		['chat', 'a', { response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } }, 'response_format'],
		['chat', 'c', { response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } }, 'response_format'],
		['messages', 'b', { output_config: { format: { type: 'json_schema', schema } } }, 'output_config.format'],
		['messages', 'c', { output_config: { format: { type: 'json_schema', schema } } }, 'output_config.format'],
	] as const)('a schema is rejected for a model without structured output: %s to %s', async (format, alias, more, param) => {
		for (const owner of ['alias', 'model'] as const) {
			expect((await sentBy(format, alias, more, record({}, owner))).body).toBeDefined();
			const { body, response } = await sentBy(format, alias, more, record({ structuredOutput: false }, owner));
			expect([response.status, errorOf(response).error.param, body]).toEqual([400, param, undefined]);
		}
	});

	it('a conversation that ends with the model’s words is rejected for a model without prefill', async () => {
		expect((await sentBy('chat', 'a', prefilled, record({}, 'alias'))).body).toBeDefined();
		const { body, response } = await sentBy('chat', 'a', prefilled, record({ prefill: false }, 'alias'));
		expect([response.status, errorOf(response).error.param, body]).toEqual([400, 'messages', undefined]);
	});

	it('translated requests have a version of the messages API that accepts their fields', async () => {
		const versionOf = async (said: ModelCapabilities): Promise<unknown> =>
			(await sentBy('chat', 'a', {}, record(said, 'alias'))).request?.headers['anthropic-version'];
		expect(await versionOf({})).toBe('2023-06-01');
		expect(await versionOf({ knownAs: 'claude-opus-4-8' })).toBe('2026-10-21');
		expect(await versionOf({ knownAs: 'claude-opus-4-8', sampling: 'full' })).toBe('2023-06-01');
		expect(await versionOf({ anthropicVersion: '2026-10-21' })).toBe('2026-10-21');
	});

	it('capabilities of an alias override those of its model, and these override the name; no other model has them', async () => {
		const settings: Partial<GatewaySettings> = {
			...record({ defaultMaxTokens: 55, temperatureMax: 0.5 }, 'model'),
			aliasCapabilities: { a: { defaultMaxTokens: 44 } },
		};
		expect((await sentBy('chat', 'a', {}, settings)).body).toMatchObject({ max_tokens: 44, temperature: 0.5 });
		expect((await sentBy('chat', 'claude-haiku-4-5', {}, settings)).body).toMatchObject({ max_tokens: 55, temperature: 0.5 });
		const chosen = { ...settings, routing: { ...testSettings.routing, ...settings.routing, providerHeader: 'optional' as const } };
		const bench = new GatewayBench(chosen);
		const body = JSON.stringify({ model: 'a', messages: [{ role: 'user', content: 'hi' }] });
		await bench.ask(chatPath, body, { 'x-gateway-provider': 'provider_a' });
		expect(sentTo(bench)).toMatchObject({ model: 'claude-haiku-4-5', max_tokens: 44 });
	});
});
