import type { Price } from '../../core/price.ts';
import { compilePrices, type PricedModel } from './compile-prices.ts';
import defaultPrices from './default-prices.json' with { type: 'json' };

/** Day of the list prices. */
export const defaultPricesDay = defaultPrices.day;

const lists = compilePrices(defaultPrices);

/** Kind whose prices apply when a kind has none of its own: Azure serves OpenAI's models. */
const fallbackKinds: Readonly<Record<string, string>> = { 'azure-openai': 'openai' };

/** Date of a snapshot at the end of a name: `-2024-07-18` or `-20240718`. */
const snapshotDate = /-20\d\d(?:-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])|(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]))$/;

/** One suffix of an open name: a stage or a shorter date, such as `-preview` or `-06-05`, `-09-2025`, `-001`. */
const version = /-(?:latest|preview|exp|customtools|\d\d-\d\d|\d\d-20\d\d|\d{3,4})$/;

const maxVersionSteps = 3;

/**
 * Returns the list price of a model: by its exact name, or by its name without version or date. Another suffix means another model, which
 * has no price, because a wrong price is worse than none.
 * @param kind of the provider, such as `azure-openai`. A kind without a list has no prices.
 * @param day UTC, such as `2026-11-21`: some prices are announced before they apply.
 */
export function defaultPrice(kind: string, model: string, day: string): Price | undefined {
	const priced = findListed(kind, model);
	return priced === undefined ? undefined : priceOn(priced, day);
}

/** Returns the list name of the model that `defaultPrice` prices: one of a closed set, unlike the names that clients use. */
export function listedModel(kind: string, model: string): string | undefined {
	return findListed(kind, model)?.model;
}

const namesByKind: ReadonlyMap<string, readonly string[]> = new Map(
	[...lists].map(([kind, { models }]) => [kind, models.map(({ model }) => model).filter((model) => !model.startsWith('ft:'))]),
);

/** Returns all models on the price list of a kind of provider, except fine-tuned ones, whose names end in an organisation's own. */
export function listedModels(kind: string): readonly string[] {
	return namesByKind.get(kind) ?? [];
}

export interface ModelPrice {
	readonly model: string;
	readonly price: Price;
}

/** Returns all list prices of a kind of provider, sorted by model. */
export function listDefaultPrices(kind: string, day: string): readonly ModelPrice[] {
	const own = lists.get(kind)?.models ?? [];
	const fallback = lists.get(fallbackKinds[kind] ?? '')?.models.filter(({ model }) => lists.get(kind)?.byName.has(model) !== true) ?? [];
	return [...own, ...fallback]
		.map((priced) => ({ model: priced.model, price: priceOn(priced, day) }))
		.toSorted((one, other) => (one.model < other.model ? -1 : 1));
}

/** Operator's own rates in pico-US-dollars per token. */
export interface OverrideRates {
	readonly inputPicoUsd: bigint;
	readonly outputPicoUsd: bigint;
	readonly cacheReadPicoUsd: bigint;
	readonly cacheWritePicoUsd: bigint;
}

/** Creates a price from an operator's rates. A one-hour cache write costs 8/5 of a short one, the ratio in Anthropic's list. */
export function overridePrice(priceVersion: string, rates: OverrideRates): Price {
	const { inputPicoUsd, outputPicoUsd, cacheReadPicoUsd, cacheWritePicoUsd } = rates;
	const cacheWriteHourPicoUsd = (cacheWritePicoUsd * 8n + 4n) / 5n;
	const tier = { inputPicoUsd, cacheReadPicoUsd, cacheWritePicoUsd, cacheWriteHourPicoUsd, outputPicoUsd, reasoningPicoUsd: outputPicoUsd };
	return { version: priceVersion, tiers: [{ upToInputTokens: null, ...tier }] };
}

/** Removes Gemini's resource prefix, and reduces a fine-tuned model (`ft:base:organisation:name:id`) to its base. */
function plainName(model: string): string {
	const name = model.toLowerCase();
	if (name.startsWith('models/')) return name.slice('models/'.length);
	if (!name.startsWith('ft:')) return name;
	const end = name.indexOf(':', 'ft:'.length);
	return end === -1 ? name : name.slice(0, end);
}

function findListed(kind: string, model: string): PricedModel | undefined {
	const name = plainName(model);
	const fallback = fallbackKinds[kind];
	return findModel(kind, name) ?? (fallback === undefined ? undefined : findModel(fallback, name));
}

function findModel(kind: string, name: string): PricedModel | undefined {
	const list = lists.get(kind);
	if (list === undefined) return undefined;
	const exact = list.byName.get(name);
	if (exact !== undefined) return exact;
	const undated = name.replace(snapshotDate, '');
	if (undated !== name) {
		const found = list.byName.get(undated);
		if (found !== undefined) return found;
	}
	let shorter = undated;
	for (let step = 0; step < maxVersionSteps; step++) {
		const found = list.byOpenName.get(shorter);
		if (found !== undefined) return found;
		const next = shorter.replace(version, '');
		if (next === shorter) return undefined;
		shorter = next;
	}
	return list.byOpenName.get(shorter);
}

function priceOn({ epochs: [first, ...later], model }: PricedModel, day: string): Price {
	if (first === undefined) throw new Error(`the table of default prices has no price for ${model}`);
	let { price } = first;
	for (const epoch of later) if (epoch.from <= day) ({ price } = epoch);
	return price;
}
