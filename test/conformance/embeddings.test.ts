/** Embeddings and legacy completions through OpenAI's SDKs, which request base64 by default and decode it themselves. */
import type { OpenAI as OpenAI7 } from 'openai';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { startEmbeddingsProvider, vector } from '../support/embeddings-provider.ts';
import { openAiLines } from '../support/sdk-lines.ts';
import { openOpenAi } from './open-sdk.ts';
import { describeOwn, useSubject } from './subject.ts';

const provider = await startEmbeddingsProvider();
afterAll(() => provider.close());

const connection = { api_key: 'key', allow_private_network: true };

describeOwn('embeddings and legacy completions', 'a configuration of its own', () => {
	const subject = useSubject({
		enable_guardrails: true,
		enforce_guardrails: true,
		guardrails: { words: ['darkfish'] },
		providers: {
			vendor: { kind: 'openai', base_url: `${provider.origin}/v1`, ...connection },
			floats: { kind: 'openai-compatible', base_url: `${provider.origin}/float/v1`, ...connection },
			google: { kind: 'gemini', base_url: provider.origin, ...connection },
			deployed: {
				kind: 'azure-openai',
				base_url: provider.origin,
				api_version: '2024-10-21',
				deployments: { embed: { model: 'text-embedding-3-small' } },
				...connection,
			},
		},
		routing: { defaults: { embeddings: 'vendor', completions: 'vendor' } },
	});
	beforeEach(() => void (provider.seen.length = 0));

	const models = [
		['vendor/text-embedding-3-small', '/v1/embeddings'],
		['floats/own-model', '/float/v1/embeddings'],
		['google/gemini-embedding-001', '/v1beta/models/gemini-embedding-001:batchEmbedContents'],
		['deployed/embed', '/openai/deployments/embed/embeddings?api-version=2024-10-21'],
	] as const;

	describe.each(openAiLines)('%s', (_name, OpenAI) => {
		const open = (): Promise<OpenAI7> => openOpenAi(OpenAI, subject.current);

		it.each(models)('embeds by %s, with any encoding', async (model, path) => {
			const client = await open();
			const input = ['One text', 'Another'];
			const { data, usage, object } = await client.embeddings.create({ model, input, dimensions: 4 });
			expect([object, data.map(({ index, embedding }) => [index, embedding])]).toEqual(['list', [0, 1].map((index) => [index, vector])]);
			expect(usage.prompt_tokens).toBeGreaterThan(0);
			const floats = await client.embeddings.create({ model, input: 'One text', encoding_format: 'float' });
			expect(floats.data[0]?.embedding).toEqual(vector);
			const packed = await client.embeddings.create({ model, input: 'One text', encoding_format: 'base64' });
			expect(packed.data[0]?.embedding).toBe(Buffer.from(Float32Array.from(vector).buffer).toString('base64'));
			expect(new Set(provider.seen.map((request) => request.path))).toEqual(new Set([path]));
		});

		it('shows invalid input as a bad request, and calls no provider', async () => {
			const client = await open();
			for (const [input, param] of [
				[['a', 'b', 'c', 4], 'input[3]'],
				[[], 'input'],
				['', 'input'],
				[Array.from({ length: 2049 }, () => 'x'), 'input'],
			] as const) {
				const failed = client.embeddings.create({ model: 'text-embedding-3-small', input: input as never });
				await expect(failed).rejects.toMatchObject({ status: 400, code: 'field_invalid', param });
			}
			const tokens = client.embeddings.create({ model: 'google/gemini-embedding-001', input: [1, 2] });
			await expect(tokens).rejects.toMatchObject({ status: 400, param: 'input' });
			expect(provider.seen).toEqual([]);
		});

		it('shows a guardrail block as a bad request', async () => {
			const failed = (await open()).embeddings.create({ model: 'text-embedding-3-small', input: ['safe', 'a darkfish'] });
			await expect(failed).rejects.toMatchObject({ status: 400, code: 'guardrail_blocked' });
			expect(provider.seen).toEqual([]);
		});

		it('completes a prompt, streaming and non-streaming', async () => {
			const client = await open();
			const model = 'gpt-3.5-turbo-instruct';
			const whole = await client.completions.create({ model: `vendor/${model}`, prompt: 'Say hello.' });
			expect([whole.choices[0]?.text, whole.usage?.total_tokens]).toEqual(['Hello there.', 5]);
			let text = '';
			let events = 0;
			for await (const event of await client.completions.create({ model: `vendor/${model}`, prompt: 'Say hello.', stream: true })) {
				text += event.choices[0]?.text ?? '';
				events++;
				expect(event.usage ?? null).toBeNull();
			}
			expect([text, events, provider.seen[1]?.body['stream_options']]).toEqual(['Hello there.', 2, { include_usage: true }]);
		});

		it('names the next step if the provider has no completions', async () => {
			const failed = (await open()).completions.create({ model: 'google/gemini-2.5-flash', prompt: 'Say hello.' });
			await expect(failed).rejects.toMatchObject({
				status: 400,
				param: 'model',
				message: expect.stringContaining('use a model of another provider') as string,
			});
		});
	});
});
