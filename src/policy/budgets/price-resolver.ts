import { dayNumberOf } from '../../core/day-number.ts';
import { parseUsd, parseUsdPerMillionTokens } from '../../core/money.ts';
import { fallbackPriceVersions, type Price, type ToolPrices } from '../../core/price.ts';
import { type HostedTool, hostedTools } from '../../core/usage.ts';
import { dayOf } from '../limits/utc-time.ts';
import { defaultPrice, listedModel, type OverrideRates, overridePrice } from './price-of.ts';

/** Operator's price in its stored form. */
export interface PriceRecord extends OverrideRates {
	readonly model: string;
	readonly version: number;
}

export type FindOverride = (provider: string, model: string) => PriceRecord | undefined;

export interface PriceSettings {
	readonly unknownPrice: 'allow' | 'default_rate' | 'reject';
	/** Values of `default_rate`, decimal US dollars per million tokens. */
	readonly defaultRate: { readonly inputUsd: string; readonly outputUsd: string };
	/** Price of one call of each hosted tool, in decimal US dollars. Calls are free by default. */
	readonly toolsUsd?: Readonly<Partial<Record<HostedTool, string>>>;
}

export interface PricedAs {
	readonly price: Price;
	/** Marks a model without an operator's price and without a list price. */
	readonly isUnknown: boolean;
	/** Name for which an operator set the price; undefined for a list price. */
	readonly overrides: string | undefined;
}

/** Maximum number of cached models of each kind, because clients choose model names. */
const maxCached = 4096;

const nothing: OverrideRates = { inputPicoUsd: 0n, outputPicoUsd: 0n, cacheReadPicoUsd: 0n, cacheWritePicoUsd: 0n };

interface Listed {
	readonly name: string | undefined;
}

/** Cache by kind, then by model: a combined key would be hashed again for each request. */
type ByModel<Known> = Map<string, Map<string, Known>>;

/** Finds the price of each request: an operator's own, the default of the day, or the configured price of unknown models. */
export class PriceResolver {
	readonly #findOverride: FindOverride;
	readonly #unknown: Price | undefined;
	readonly #overrides = new WeakMap<PriceRecord, PricedAs>();
	readonly #defaults: ByModel<PricedAs> = new Map();
	readonly #listed: ByModel<Listed> = new Map();
	readonly #toolNanoUsd: ToolPrices;
	#day = '';
	#dayNumber = -1;

	/** @throws Error for a rate that the schema should have rejected. */
	constructor({ unknownPrice, defaultRate, toolsUsd = {} }: PriceSettings, findOverride: FindOverride) {
		this.#findOverride = findOverride;
		this.#toolNanoUsd = parseToolPrices(toolsUsd);
		if (unknownPrice === 'allow') this.#unknown = overridePrice(fallbackPriceVersions.free, nothing);
		if (unknownPrice === 'default_rate') this.#unknown = overridePrice(fallbackPriceVersions.defaultRate, parseRates(defaultRate));
	}

	/**
	 * Returns the price of a model. An override of the exact name takes precedence over one of its list name, so a dated name wins over the
	 * undated one.
	 * @param knownAs the vendor's name of the model, if `model` is a free one.
	 * @returns undefined for a model without a price if such models are rejected.
	 */
	priceOf(provider: { readonly name: string; readonly kind: string }, model: string, nowMs: number, knownAs = model): PricedAs | undefined {
		const record = this.#findOverride(provider.name, model) ?? this.#overrideOfListed(provider, knownAs);
		return record === undefined ? this.#defaultOf(provider.kind, knownAs, nowMs) : this.#ofRecord(record);
	}

	/** Returns the name of a model in the price list, which can have many names; undefined: it is not listed. */
	listedModel(kind: string, knownAs: string): string | undefined {
		let listed = this.#listed.get(kind)?.get(knownAs);
		if (listed === undefined) {
			listed = { name: listedModel(kind, knownAs) };
			cache(this.#listed, kind, knownAs, listed);
		}
		return listed.name;
	}

	#overrideOfListed({ name, kind }: { readonly name: string; readonly kind: string }, knownAs: string): PriceRecord | undefined {
		const listed = this.listedModel(kind, knownAs);
		return listed === undefined ? undefined : this.#findOverride(name, listed);
	}

	#ofRecord(record: PriceRecord): PricedAs {
		let priced = this.#overrides.get(record);
		if (priced === undefined) {
			priced = { price: this.#withTools(overridePrice(`override:${record.version}`, record)), isUnknown: false, overrides: record.model };
			this.#overrides.set(record, priced);
		}
		return priced;
	}

	#defaultOf(kind: string, model: string, nowMs: number): PricedAs | undefined {
		const dayNumber = dayNumberOf(nowMs);
		if (dayNumber !== this.#dayNumber) {
			this.#dayNumber = dayNumber;
			this.#day = dayOf(nowMs);
			this.#defaults.clear();
		}
		const known = this.#defaults.get(kind)?.get(model);
		if (known !== undefined) return known;
		const found = defaultPrice(kind, model, this.#day);
		const price = found ?? this.#unknown;
		if (price === undefined) return undefined;
		const priced = { price: this.#withTools(price), isUnknown: found === undefined, overrides: undefined };
		cache(this.#defaults, kind, model, priced);
		return priced;
	}

	#withTools(price: Price): Price {
		return { ...price, toolNanoUsd: this.#toolNanoUsd };
	}
}

function cache<Known>(all: ByModel<Known>, kind: string, model: string, known: Known): void {
	let ofKind = all.get(kind);
	if (ofKind === undefined || ofKind.size >= maxCached) {
		ofKind = new Map<string, Known>();
		all.set(kind, ofKind);
	}
	ofKind.set(model, known);
}

function parseToolPrices(toolsUsd: NonNullable<PriceSettings['toolsUsd']>): ToolPrices {
	return Object.fromEntries(
		hostedTools.map((tool) => {
			const nanoUsd = parseUsd(toolsUsd[tool] ?? '0');
			if (nanoUsd === undefined) throw new Error(`budgets.hosted_tools.${tool}_usd is no price`);
			return [tool, nanoUsd];
		}),
	);
}

function parseRates({ inputUsd, outputUsd }: PriceSettings['defaultRate']): OverrideRates {
	const inputPicoUsd = parseUsdPerMillionTokens(inputUsd);
	const outputPicoUsd = parseUsdPerMillionTokens(outputUsd);
	if (inputPicoUsd === undefined || outputPicoUsd === undefined) throw new Error('budgets.default_rate has no rates');
	return { inputPicoUsd, outputPicoUsd, cacheReadPicoUsd: inputPicoUsd, cacheWritePicoUsd: inputPicoUsd };
}
