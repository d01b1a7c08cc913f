import { expect, it } from 'vitest';
import { defaultPricesDay } from './price-of.ts';
import { PriceResolver } from './price-resolver.ts';

const nowMs = Date.parse(defaultPricesDay);
const rates = { version: 1, inputPicoUsd: 1n, outputPicoUsd: 1n, cacheReadPicoUsd: 1n, cacheWritePicoUsd: 1n };

function bookWith(...overrides: readonly string[]): PriceResolver {
	const found = new Map(overrides.map((name) => [name, { ...rates, model: name.slice(name.indexOf('/') + 1) }]));
	return new PriceResolver({ unknownPrice: 'reject', defaultRate: { inputUsd: '1', outputUsd: '1' } }, (provider, model) =>
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

const openai = { name: 'p', kind: 'openai' };
const settings = { unknownPrice: 'allow', defaultRate: { inputUsd: '10', outputUsd: '50' } } as const;

it.each([
	['reject', undefined],
	['allow', ['unpriced', 0n, 0n, 0n, 0n]],
	['default_rate', ['default_rate', 10_000_000n, 10_000_000n, 10_000_000n, 50_000_000n]],
] as const)('a model without a price, under %s', (unknownPrice, expected) => {
	const book = new PriceResolver({ ...settings, unknownPrice }, () => undefined);
	const priced = book.priceOf(openai, 'prod', nowMs);
	const [tier] = priced?.price.tiers ?? [];
	const shown = priced && [priced.price.version, tier?.inputPicoUsd, tier?.cacheReadPicoUsd, tier?.cacheWritePicoUsd, tier?.outputPicoUsd];
	expect(shown).toEqual(expected);
	expect(priced?.isUnknown ?? true).toBe(true);
	expect(book.priceOf(openai, 'gpt-4o', nowMs)).toMatchObject({ isUnknown: false, overrides: undefined });
});

it.each([
	['10', 'much'],
	['', '50'],
])('a default rate of %j and %j is an error', (inputUsd, outputUsd) => {
	const create = () => new PriceResolver({ unknownPrice: 'default_rate', defaultRate: { inputUsd, outputUsd } }, () => undefined);
	expect(create).toThrow('budgets.default_rate');
});

it('every price has the prices of hosted tools', () => {
	const book = new PriceResolver({ ...settings, toolsUsd: { web_search: '0.01' } }, () => undefined);
	for (const model of ['gpt-4o', 'prod']) {
		expect(book.priceOf(openai, model, nowMs)?.price.toolNanoUsd).toMatchObject({ web_search: 10_000_000n, file_search: 0n });
	}
	expect(() => new PriceResolver({ ...settings, toolsUsd: { web_search: 'much' } }, () => undefined)).toThrow(
		'budgets.hosted_tools.web_search_usd',
	);
});

it('an announced price applies from the first moment of its UTC day', () => {
	const book = new PriceResolver(settings, () => undefined);
	const rateAt = (time: string) =>
		book.priceOf({ name: 'p', kind: 'gemini' }, 'gemini-3.6-flash', Date.parse(time))?.price.tiers[0]?.inputPicoUsd;
	expect([rateAt('2026-12-31T23:59:59.999Z'), rateAt('2027-01-01T00:00:00Z'), rateAt('2026-12-31T12:00:00Z')]).toEqual([
		750_000n,
		1_500_000n,
		750_000n,
	]);
});
