import { expect, it } from 'vitest';
import { PriceBook } from './price-book.ts';
import { defaultPricesDay } from './price-of.ts';

const nowMs = Date.parse(defaultPricesDay);
const rates = { version: 1, inputPicoUsd: 1n, outputPicoUsd: 1n, cacheReadPicoUsd: 1n, cacheWritePicoUsd: 1n };

function bookWith(...overrides: readonly string[]): PriceBook {
	const found = new Map(overrides.map((name) => [name, { ...rates, model: name.slice(name.indexOf('/') + 1) }]));
	return new PriceBook({ unknownPrice: 'reject', defaultRate: { inputUsd: '1', outputUsd: '1' } }, (provider, model) =>
		found.get(`${provider}/${model}`),
	);
}

it.each([
	['openai', 'gpt-4o-mini', undefined, 'gpt-4o-mini'],
	['openai', 'gpt-4o-mini-2024-07-18', undefined, 'gpt-4o-mini'],
	['openai', 'GPT-4o-mini', undefined, 'gpt-4o-mini'],
	['openai', 'gpt-4o-2024-11-20', undefined, 'gpt-4o-2024-11-20'],
	['openai', 'gpt-4o-2024-08-06', undefined, undefined],
	['azure-openai', 'prod', 'gpt-4o-mini', 'gpt-4o-mini'],
	['openai-compatible', 'gpt-4o-mini-2024-07-18', undefined, undefined],
])('%s: %s, known as %s, has the override of %s', (kind, model, knownAs, expected) => {
	const book = bookWith('p/gpt-4o-mini', 'p/gpt-4o-2024-11-20');
	expect(book.priceOf({ name: 'p', kind }, model, nowMs, knownAs)?.overrides).toBe(expected);
	expect(book.priceOf({ name: 'other', kind }, model, nowMs, knownAs)?.overrides).toBeUndefined();
});

it('the very name goes before the one that the price list has for it', () => {
	const book = bookWith('p/gpt-4o-mini', 'p/gpt-4o-mini-2024-07-18', 'p/prod');
	const of = (model: string, knownAs?: string) => book.priceOf({ name: 'p', kind: 'openai' }, model, nowMs, knownAs)?.overrides;
	expect([of('gpt-4o-mini-2024-07-18'), of('gpt-4o-mini'), of('prod', 'gpt-4o-mini')]).toEqual([
		'gpt-4o-mini-2024-07-18',
		'gpt-4o-mini',
		'prod',
	]);
});
