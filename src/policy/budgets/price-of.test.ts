import { readFileSync } from 'node:fs';
import { calcPrice, type Usage as ForeignUsage } from '@pydantic/genai-prices';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultPricesPath, generatePrices } from '../../../scripts/generate-prices.ts';
import { noUsage } from '../../core/usage.ts';
import { costNanoUsd } from './cost.ts';
import { defaultPrice, defaultPricesDay, listDefaultPrices, listedModels, overridePrice } from './price-of.ts';

const day = defaultPricesDay;
const kinds = ['anthropic', 'azure-openai', 'gemini', 'openai'] as const;

/** Rates of the first tier in US dollars per million tokens: input, cache read, cache write, one-hour cache write, output. */
function rates(kind: string, model: string, on = day): string {
	const tier = defaultPrice(kind, model, on)?.tiers[0];
	if (tier === undefined) return 'none';
	const { inputPicoUsd, cacheReadPicoUsd, cacheWritePicoUsd, cacheWriteHourPicoUsd, outputPicoUsd } = tier;
	return [inputPicoUsd, cacheReadPicoUsd, cacheWritePicoUsd, cacheWriteHourPicoUsd, outputPicoUsd]
		.map((rate) => Number(rate) / 1e6)
		.join(' ');
}

it('the committed table is what its generator writes', () => {
	expect(readFileSync(defaultPricesPath, 'utf8')).toBe(generatePrices(day));
});

describe('the default price', () => {
	it.each([
		['anthropic', 'claude-opus-4-5', '5 0.5 6.25 10 25'],
		['anthropic', 'claude-opus-4-5-20251101', '5 0.5 6.25 10 25'],
		['anthropic', 'claude-3-5-haiku-20241022', '0.8 0.08 1 1.6 4'],
		['anthropic', 'claude-3-5-haiku-latest', '0.8 0.08 1 1.6 4'],
		['anthropic', 'claude-sonnet-4-20250514', '3 0.3 3.75 6 15'],
		['anthropic', 'claude-opus-4-20250514', '15 1.5 18.75 30 75'],
		['anthropic', 'claude-opus-4-1-20250805', '15 1.5 18.75 30 75'],
		['anthropic', 'claude-haiku-4-5', '1 0.1 1.25 2 5'],
		['anthropic', 'claude-opus-5-20260601', '5 0.5 6.25 10 25'],
		['openai', 'gpt-4o-mini', '0.15 0.075 0.15 0.15 0.6'],
		['openai', 'gpt-4o-mini-2024-07-18', '0.15 0.075 0.15 0.15 0.6'],
		['openai', 'gpt-4o-2024-05-13', '5 5 5 5 15'],
		['openai', 'gpt-4o-2024-11-20', '2.5 1.25 2.5 2.5 10'],
		['openai', 'GPT-4o', '2.5 1.25 2.5 2.5 10'],
		['openai', 'o3-2025-04-16', '2 0.5 2 2 8'],
		['openai', 'gpt-5.6-luna-2026-07-01', '0.2 0.02 0.25 0.25 1.2'],
		['openai', 'gpt-3.5-turbo-1106', '1 1 1 1 2'],
		['openai', 'ft:gpt-4o-mini-2024-07-18:acme::abc123', '0.3 0.3 0.3 0.3 1.2'],
		['openai', 'ft:gpt-4o-2024-08-06:acme:tickets:1', '3.75 3.75 3.75 3.75 15'],
		['openai', 'ft:gpt-3.5-turbo-0125:acme::1', '3 3 3 3 6'],
		['gemini', 'gemini-2.5-pro', '1.25 0.125 1.25 1.25 10'],
		['gemini', 'gemini-2.5-pro-preview-06-05', '1.25 0.125 1.25 1.25 10'],
		['gemini', 'gemini-2.5-pro-preview-2025-06-05', '1.25 0.125 1.25 1.25 10'],
		['gemini', 'gemini-2.5-pro-preview-exp-001', '1.25 0.125 1.25 1.25 10'],
		['gemini', 'models/gemini-2.5-pro', '1.25 0.125 1.25 1.25 10'],
		['gemini', 'gemini-2.0-flash-001', '0.1 0.025 0.1 0.1 0.4'],
		['gemini', 'gemini-2.0-flash-lite-001', '0.075 0.075 0.075 0.075 0.3'],
		['gemini', 'gemini-2.5-flash-lite-preview-06-17', '0.1 0.01 0.1 0.1 0.4'],
		['gemini', 'gemini-3.1-pro-preview-customtools', '2 0.2 2 2 12'],
		['azure-openai', 'o4-mini', '1.1 0.28 1.1 1.1 4.4'],
		['azure-openai', 'gpt-4o-mini', '0.15 0.075 0.15 0.15 0.6'],
		['azure-openai', 'gpt-35-turbo', '0.5 0.5 0.5 0.5 1.5'],
		['openai', 'text-embedding-3-small', '0.02 0.02 0.02 0.02 0'],
		['openai', 'text-embedding-ada-002', '0.1 0.1 0.1 0.1 0'],
		['azure-openai', 'text-embedding-3-large', '0.13 0.13 0.13 0.13 0'],
		['gemini', 'gemini-embedding-001', '0.15 0.15 0.15 0.15 0'],
	])('of %s %s is %s', (kind, model, expected) => {
		expect(rates(kind, model)).toBe(expected);
	});

	it.each([
		['openai', ''],
		['openai', 'gpt'],
		['openai', 'gpt-4o-'],
		['openai', 'gpt-4o-mini-audio-preview'],
		['openai', 'gpt-4o-mini-2024'],
		['openai', 'gpt-4o-mini-2024-13-01'],
		['openai', 'gpt-4o-mini-search'],
		['openai', 'gpt-4-0999'],
		['openai', 'ft:o1:acme::1'],
		['openai', 'ft:'],
		['openai', 'gpt-image-1'],
		['openai', 'claude-opus-4-5'],
		['openai', 'constructor'],
		['anthropic', 'claude-opus-4-10'],
		['anthropic', 'claude-opus-4-1-fast'],
		['anthropic', 'claude-sonnet-5-5'],
		['anthropic', 'claude-sonnet-5-lite'],
		['anthropic', 'gpt-4o'],
		['azure-openai', 'o4-mini-turbo'],
		['azure-openai', 'production-chat'],
		['gemini', 'gemini-1.5-flash-8b'],
		['gemini', 'gemini-2.5-pro-preview-exp-latest-001'],
		['gemini', 'gemini-2.5-pro-tts'],
		['gemini', 'gemini-2.5-flash-image'],
		['gemini', 'gemini-3.6-flash-lite'],
		['gemini', 'claude-opus-4-5'],
		['openai-compatible', 'gpt-4o'],
		['constructor', 'gpt-4o'],
	])('of %s %j is not guessed', (kind, model) => {
		expect(rates(kind, model)).toBe('none');
	});

	it('has the tiers of models whose long requests cost more', () => {
		expect(
			defaultPrice('gemini', 'gemini-2.5-pro', day)?.tiers.map(({ upToInputTokens, outputPicoUsd }) => [upToInputTokens, outputPicoUsd]),
		).toEqual([
			[200_000, 10_000_000n],
			[null, 15_000_000n],
		]);
	});

	it('changes on the day that was announced, and its version with it', () => {
		expect(rates('gemini', 'gemini-3.6-flash', '2026-12-31')).toBe('0.75 0.075 0.75 0.75 3.75');
		expect(rates('gemini', 'gemini-3.6-flash', '2027-01-01')).toBe('1.5 0.15 1.5 1.5 7.5');
		expect(defaultPrice('gemini', 'gemini-3.6-flash', '2026-12-31')?.version).toBe(`default:${day}`);
		expect(defaultPrice('gemini', 'gemini-3.6-flash', '2027-01-02')?.version).toBe('default:2027-01-01');
	});

	it('of a made-up name is none', () => {
		fc.assert(
			fc.property(fc.constantFrom(...kinds), fc.string(), (kind, model) => {
				const isKnown = listDefaultPrices(kind, day).some((priced) => model.toLowerCase().includes(priced.model));
				return isKnown || defaultPrice(kind, model, day) === undefined;
			}),
		);
	});

	it('of a known name with words after it is none', () => {
		const known = kinds.flatMap((kind) => listDefaultPrices(kind, day).map(({ model }) => ({ kind, model })));
		const names = new Set(known.map(({ model }) => model));
		const words = fc.stringMatching(/^[-.]?[jqxz][a-z]{0,6}$/);
		fc.assert(
			fc.property(fc.constantFrom(...known), words, ({ kind, model }, word) => {
				fc.pre(!names.has(model + word));
				return defaultPrice(kind, model + word, day) === undefined;
			}),
		);
	});

	it('agrees with its source, request by request', () => {
		const providers = { anthropic: 'anthropic', gemini: 'google', openai: 'openai' } as const;
		const priced = Object.entries(providers).flatMap(([kind, providerId]) =>
			listDefaultPrices(kind, day).map(({ model }) => ({ kind, providerId, model })),
		);
		const count = fc.integer({ min: 0, max: 300_000 });
		fc.assert(
			fc.property(fc.constantFrom(...priced), count, count, count, count, ({ kind, providerId, model }, input, read, write, output) => {
				const price = defaultPrice(kind, model, day);
				if (price === undefined) return false;
				const usage: ForeignUsage = { input_tokens: input + read, cache_read_tokens: read, output_tokens: output };
				if (kind === 'anthropic') Object.assign(usage, { input_tokens: input + read + write, cache_write_tokens: write });
				// The source lists fine-tuned models only by their dated bases.
				const theirName = model.startsWith('ft:gpt-4o') ? `${model}-2024-08-06` : model;
				const theirs = calcPrice(usage, theirName, { providerId, timestamp: new Date(`${day}T12:00:00Z`) });
				const ours = costNanoUsd(
					{
						...noUsage,
						inputTokens: input,
						cacheReadTokens: read,
						cacheWriteTokens: kind === 'anthropic' ? write : 0,
						outputTokens: output,
					},
					price,
				);
				return Math.abs(Number(ours) / 1e9 - (theirs?.total_price ?? Number.NaN)) < 2e-9;
			}),
			{ numRuns: 2000 },
		);
	});
});

describe('an override', () => {
	it('is one tier', () => {
		const price = overridePrice('override:17', { inputPicoUsd: 3n, outputPicoUsd: 9n, cacheReadPicoUsd: 2n, cacheWritePicoUsd: 5n });
		expect(price).toEqual({
			version: 'override:17',
			tiers: [
				{
					upToInputTokens: null,
					inputPicoUsd: 3n,
					cacheReadPicoUsd: 2n,
					cacheWritePicoUsd: 5n,
					cacheWriteHourPicoUsd: 8n,
					outputPicoUsd: 9n,
					reasoningPicoUsd: 9n,
				},
			],
		});
	});
});

it('Azure lists OpenAI’s models next to its own, each once', () => {
	const models = listDefaultPrices('azure-openai', day).map(({ model }) => model);
	expect(models).toContain('gpt-4o-mini');
	expect(models).toContain('phi-4');
	expect(new Set(models).size).toBe(models.length);
	expect(models).toEqual(models.toSorted());
});

it('lists the models of a kind by the names that any of its clients may know', () => {
	expect(listedModels('openai')).toContain('gpt-4o-mini');
	expect(listedModels('openai').filter((model) => model.startsWith('ft:'))).toEqual([]);
	expect(listedModels('openai-compatible')).toEqual([]);
});
