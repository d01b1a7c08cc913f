/** Programs that use Vercel's AI SDK, and the gateway requirements that Claude Code documents. */

import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, type LanguageModel, Output, stepCountIs, streamText, tool } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { compatibleGemini } from './compatible-providers.ts';
import { describeOwn, send, useSubject } from './subject.ts';

// Silences the warning that the AI SDK logs for models of other vendors.
beforeAll(() => void Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false }));
afterAll(() => void Reflect.deleteProperty(globalThis, 'AI_SDK_LOG_WARNINGS'));

/** One model per wire dialect. */
const models = ['gpt-4o', 'claude-sonnet-4-5', 'gemini-2.5-flash', 'gemini-3-pro-preview', 'provider_d/gpt-4o', 'compat/gemini-2.5-flash'];

const tools = {
	get_weather: tool({
		description: 'The weather of a city',
		inputSchema: z.object({ city: z.string() }),
		execute: async ({ city }) => `21 degrees in ${city}`,
	}),
};

/** One product for both `describe` blocks. */
const subject = useSubject((simulatorUrl) => ({ providers: { compat: compatibleGemini(simulatorUrl) } }));

describeOwn('Spec: Inference endpoints, through Vercel’s AI SDK', 'our simulator', () => {
	beforeAll(async () => subject.current.simulator.change({ interval_ms: 0, first_byte_ms: 0 }));

	const openers: readonly (readonly [string, (model: string) => Promise<LanguageModel>])[] = [
		[
			'@ai-sdk/openai',
			async (model) => createOpenAI({ baseURL: `${subject.current.baseUrl}/v1`, apiKey: await subject.current.accessToken() }).chat(model),
		],
		[
			'@ai-sdk/anthropic',
			async (model) => createAnthropic({ baseURL: `${subject.current.baseUrl}/v1`, authToken: await subject.current.accessToken() })(model),
		],
	];

	describe.each(openers)('%s', (_name, open) => {
		describe.each(models)('on %s', (id) => {
			it('generates text', async () => {
				const { text, finishReason, usage } = await generateText({ model: await open(id), prompt: 'Say hello.', maxRetries: 0 });
				expect([text, finishReason]).toEqual([expect.stringContaining('Say hello') as unknown, 'stop']);
				expect([usage.inputTokens, usage.outputTokens].every((count) => Number(count) > 0)).toBe(true);
			});

			it('streams text', async () => {
				const result = streamText({ model: await open(id), prompt: 'Say hello.', maxRetries: 0 });
				let pieces = '';
				for await (const piece of result.textStream) pieces += piece;
				expect([await result.text, await result.finishReason]).toEqual([expect.stringContaining('Say hello') as unknown, 'stop']);
				expect(pieces).toBe(await result.text);
				expect(Number((await result.usage).outputTokens)).toBeGreaterThan(0);
			});

			it('calls tools step by step, streaming and non-streaming', async () => {
				const ask = { tools, prompt: 'What is the weather in Paris and Rome?', stopWhen: stepCountIs(3), maxRetries: 0 };
				const whole = await generateText({ ...ask, model: await open(id) });
				const streamed = streamText({ ...ask, model: await open(id) });
				await streamed.consumeStream();
				for (const [text, steps] of [
					[whole.text, whole.steps],
					[await streamed.text, await streamed.steps],
				] as const) {
					expect(text).toContain('21 degrees in');
					expect(steps[0]?.toolCalls.map(({ input }): unknown => input)).toEqual([{ city: 'Paris' }, { city: 'Rome' }]);
				}
			});

			it('gives structured output', async () => {
				const { output } = await generateText({
					model: await open(id),
					prompt: 'Describe a cat.',
					output: Output.object({ schema: z.object({ name: z.string(), lives: z.number() }) }),
					maxRetries: 0,
				});
				expect(output).toEqual({ name: expect.any(String) as string, lives: expect.any(Number) as number });
			});
		});
	});
});

describeOwn('Claude Code', 'our simulator', () => {
	const body = {
		model: 'claude-sonnet-4-5',
		max_tokens: 100,
		stream: true,
		system: [{ type: 'text', text: 'You are an agent.', cache_control: { type: 'ephemeral' } }],
		messages: [{ role: 'user', content: [{ type: 'text', text: 'Say hello.' }] }],
		metadata: { user_id: `user_${'0'.repeat(64)}_account__session_00000000-0000-4000-8000-000000000000` },
		tools: [{ name: 'Bash', description: 'Runs a command', input_schema: { type: 'object', properties: { command: { type: 'string' } } } }],
		a_field_of_next_month: true,
	};
	const headers = { 'anthropic-beta': 'claude-code-20250219,interleaved-thinking-2025-05-14', 'anthropic-version': '2023-06-01' };

	it('has its query string, header fields and unknown fields passed to provider_a', async () => {
		await subject.current.simulator.change({ record_bodies: true });
		const { a_field_of_next_month: _unknown, ...known } = body;
		const response = await send(subject.current, '/v1/messages?beta=true', { headers, body: known });
		expect([response.status, (await response.text()).includes('message_stop')]).toEqual([200, true]);
		const seen = await subject.current.simulator.newestRequest();
		expect([seen.query, seen.body]).toEqual(['beta=true', JSON.stringify(known)]);
		expect(seen.headers).toMatchObject(headers);
	});

	it.each(['gpt-5', 'gemini-3-pro-preview'])('is served by %s, with warnings for fields that could not be forwarded', async (model) => {
		const response = await send(subject.current, '/v1/messages?beta=true', { headers, body: { ...body, model } });
		expect([response.status, (await response.text()).includes('message_stop')]).toEqual([200, true]);
		expect(response.headers.get('x-gateway-warnings')).toMatch(/a_field_of_next_month: ignored.*anthropic-beta: not forwarded/);
		const seen = await subject.current.simulator.newestRequest();
		expect([seen.query.includes('beta'), seen.headers['anthropic-beta']]).toEqual([false, undefined]);
	});
});
