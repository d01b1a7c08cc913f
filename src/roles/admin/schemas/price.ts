import { z } from 'zod';
import type { PriceTier } from '../../../core/price.ts';
import type { ModelPrice } from '../../../policy/budgets/price-of.ts';
import type { PriceOverride } from '../../../stores/contracts/records.ts';
import { named, rate, rateText, readOnly, time, timeOf } from './values.ts';

const rates = {
	input_usd_per_million_tokens: rate,
	output_usd_per_million_tokens: rate,
	cache_read_usd_per_million_tokens: rate,
	cache_write_usd_per_million_tokens: rate,
};

export const price = named(
	'Price',
	z.strictObject({
		provider: z.string(),
		model: z.string(),
		input_usd_per_million_tokens: rate.nullable(),
		output_usd_per_million_tokens: rate.nullable(),
		cache_read_usd_per_million_tokens: rate.nullable(),
		cache_write_usd_per_million_tokens: rate.nullable(),
		long_input: z
			.array(z.strictObject({ above_input_tokens: z.int(), ...rates }))
			.describe('Rates for requests whose input exceeds `above_input_tokens`.'),
		priced_as: z.string().nullable().describe('Model that the price belongs to, if it differs: for deployments and dated names.'),
		source: z.enum(['override', 'default']).nullable().describe('Null: the model has no price.'),
		updated_at: time.nullable().describe('Null: not an override.'),
	}),
);

export type PriceBody = z.output<typeof price>;

export const priceChange = named(
	'PriceUpdate',
	z.strictObject({
		input_usd_per_million_tokens: rate,
		output_usd_per_million_tokens: rate,
		cache_read_usd_per_million_tokens: rate.optional().describe('Default: the input rate.'),
		cache_write_usd_per_million_tokens: rate.optional().describe('Default: the input rate.'),
		provider: z.string().optional().describe('Must equal the value in the path.'),
		model: z.string().optional().describe('Must equal the value in the path.'),
		long_input: readOnly,
		priced_as: readOnly,
		source: readOnly,
		updated_at: readOnly,
	}),
);

/** @param requestedName the requested name, if it differs from the record's. */
export function overrideBody(record: PriceOverride, requestedName = record.model): PriceBody {
	const heading = headingOf(record.provider, requestedName, record.model);
	return { ...heading, ...ratesBody(record), long_input: [], source: 'override', updated_at: timeOf(record.updatedAtMs) };
}

/** @param requestedName the requested name, if it differs from the list's. */
export function defaultBody(provider: string, { model, price: { tiers } }: ModelPrice, requestedName = model): PriceBody {
	const [first, ...longer] = tiers;
	if (first === undefined) throw new Error(`the price of ${provider}/${model} has no rates`);
	let above = first.upToInputTokens;
	const longInput = longer.map((tier) => {
		const body = { above_input_tokens: above ?? 0, ...ratesBody(tier) };
		above = tier.upToInputTokens;
		return body;
	});
	return { ...headingOf(provider, requestedName, model), ...ratesBody(first), long_input: longInput, source: 'default', updated_at: null };
}

export function unpricedBody(provider: string, model: string): PriceBody {
	return {
		provider,
		model,
		input_usd_per_million_tokens: null,
		output_usd_per_million_tokens: null,
		cache_read_usd_per_million_tokens: null,
		cache_write_usd_per_million_tokens: null,
		long_input: [],
		priced_as: null,
		source: null,
		updated_at: null,
	};
}

function headingOf(provider: string, model: string, priced: string) {
	return { provider, model, priced_as: priced === model ? null : priced };
}

type Rates = Pick<PriceTier, 'inputPicoUsd' | 'outputPicoUsd' | 'cacheReadPicoUsd' | 'cacheWritePicoUsd'>;

function ratesBody(from: Rates) {
	return {
		input_usd_per_million_tokens: rateText(from.inputPicoUsd),
		output_usd_per_million_tokens: rateText(from.outputPicoUsd),
		cache_read_usd_per_million_tokens: rateText(from.cacheReadPicoUsd),
		cache_write_usd_per_million_tokens: rateText(from.cacheWritePicoUsd),
	};
}
