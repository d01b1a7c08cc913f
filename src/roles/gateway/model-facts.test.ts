import { expect, it } from 'vitest';
import { chatPath, GatewayBench, jsonAnswer, messagesPath, testSettings } from '../../../test/support/gateway-bench.ts';
import type { GatewaySettings } from './gateway-settings.ts';
import type { ModelFacts } from './model-facts.ts';

const usage = { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 };
const message = { role: 'assistant', content: 'hi' };
const answer = JSON.stringify({
	id: 'x',
	object: 'chat.completion',
	created: 1,
	model: 'm',
	choices: [{ index: 0, message, finish_reason: 'stop' }],
	usage,
});

function benchWith(facts: ModelFacts, more: Partial<GatewaySettings> = {}): GatewayBench {
	const providers = testSettings.providers.map((provider) =>
		provider.name === 'provider_d' ? { ...provider, modelFacts: { 'our-gpt': facts } } : provider,
	);
	const bench = new GatewayBench({ providers, ...more });
	bench.respond = () => jsonAnswer(200, answer);
	return bench;
}

function sentTo({ sent }: GatewayBench): Record<string, unknown> {
	const body = sent[0]?.body;
	return JSON.parse(Buffer.isBuffer(body) ? body.toString() : 'null') as Record<string, unknown>;
}
const chat = (more: object = {}): string => JSON.stringify({ model: 'our-gpt', messages: [{ role: 'user', content: 'hi' }], ...more });

it('a deployment is priced as the model that it is known as', async () => {
	for (const [facts, cost] of [
		[{}, 0n],
		[{ knownAs: 'gpt-5' }, 6_250_000n],
	] as const) {
		const response = await benchWith(facts).ask(chatPath, chat());
		expect([response.facts?.model, response.facts?.costNanoUsd]).toEqual(['our-gpt', cost]);
	}
});

it('its output is capped as that model’s, or as its operator says', async () => {
	const worst = { budgets: { ...testSettings.budgets, hold: 'worst_case' as const } };
	for (const [facts, cap] of [
		[{}, 16_384],
		[{ knownAs: 'gpt-5' }, 128_000],
		[{ knownAs: 'gpt-5', maxOutputTokens: 777 }, 777],
	] as const) {
		const bench = benchWith(facts, worst);
		await bench.ask(chatPath, chat());
		expect(sentTo(bench)['max_completion_tokens'] ?? sentTo(bench)['max_tokens']).toBe(cap);
	}
});

it('what it takes decides how requests of the other format are written', async () => {
	const request = JSON.stringify({ model: 'our-gpt', max_tokens: 50, temperature: 0.5, messages: [{ role: 'user', content: 'hi' }] });
	const unknown = benchWith({});
	await unknown.ask(messagesPath, request);
	expect(sentTo(unknown)).toMatchObject({ max_tokens: 50, temperature: 0.5, model: 'our-gpt' });
	const known = benchWith({ knownAs: 'gpt-5' });
	const response = await known.ask(messagesPath, request);
	expect(sentTo(known)).toMatchObject({ max_completion_tokens: 50, model: 'our-gpt' });
	expect(sentTo(known)).not.toHaveProperty('temperature');
	expect(response.headers['x-gateway-warnings']).toContain('temperature');
	const said = benchWith({ knownAs: 'gpt-5', capabilities: { sampling: true, capMember: 'max_tokens' } });
	await said.ask(messagesPath, request);
	expect(sentTo(said)).toMatchObject({ max_tokens: 50, temperature: 0.5 });
});
