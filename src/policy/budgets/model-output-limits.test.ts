import { expect, it } from 'vitest';
import { contextWindowOf, maxInputTokensOf, maxOutputTokensOf, outputTokenLimitOf } from './model-output-limits.ts';

/** Limits published by the vendors, by names that clients use. */
it.each([
	['chatgpt-4o-latest', 128_000, 16_384],
	['claude-2.1', 200_000, 4096],
	['claude-3-haiku-20240307', 200_000, 4096],
	['claude-3-5-haiku-20241022', 200_000, 8192],
	['claude-3-7-sonnet-20250219', 200_000, 64_000],
	['claude-haiku-4-5-20251001', 200_000, 64_000],
	['claude-opus-4-0', 200_000, 32_000],
	['claude-opus-4-20250514', 200_000, 32_000],
	['claude-opus-4-1-20250805', 200_000, 32_000],
	['claude-opus-4-5-20251101', 200_000, 64_000],
	['claude-sonnet-4-5-20250929', 1_000_000, 64_000],
	['claude-sonnet-4-6', 1_000_000, 128_000],
	['claude-opus-5-20260601', 1_000_000, 128_000],
	['gemini-1.5-pro', 2_097_152, 8192],
	['gemini-2.0-flash-001', 1_048_576, 8192],
	['gemini-2.5-pro', 1_048_576, 65_536],
	['gpt-3.5-turbo-0125', 16_385, 4096],
	['gpt-4-0613', 8192, 4096],
	['gpt-4-32k-0613', 32_768, 4096],
	['gpt-4-0125-preview', 128_000, 4096],
	['gpt-4-1106-preview', 128_000, 4096],
	['gpt-4-turbo-2024-04-09', 128_000, 4096],
	['gpt-4.1-mini', 1_047_576, 32_768],
	['gpt-4.5-preview', 128_000, 16_384],
	['gpt-4o-mini', 128_000, 16_384],
	['gpt-4o-2024-05-13', 128_000, 4096],
	['gpt-5-mini', 1_050_000, 128_000],
	['gpt-5-chat-latest', 128_000, 16_384],
	['gpt-5.1-chat-latest', 128_000, 16_384],
	['gpt-5.2-chat-latest', 128_000, 16_384],
	['gpt-5.3-chat-latest', 128_000, 16_384],
	['gpt-6', 1_050_000, 128_000],
	['o1', 200_000, 100_000],
	['o1-mini', 128_000, 65_536],
	['o1-preview', 128_000, 32_768],
	['o3-mini', 200_000, 100_000],
	['o4-mini', 200_000, 100_000],
])('%s reads at most %i tokens, and writes at most %i', (model, contextWindow, maxOutputTokens) => {
	expect([contextWindowOf(model), maxInputTokensOf(model), maxOutputTokensOf(model)]).toEqual([
		contextWindow,
		contextWindow,
		maxOutputTokens,
	]);
	expect([outputTokenLimitOf(model, undefined), outputTokenLimitOf(model, 7)]).toEqual([contextWindow, 7]);
});

it('an unknown model has the bounds of any', () => {
	expect([contextWindowOf('prod'), maxInputTokensOf('prod'), maxOutputTokensOf('prod')]).toEqual([1_050_000, 10_000_000, undefined]);
});
