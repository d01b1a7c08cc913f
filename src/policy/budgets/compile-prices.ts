/**
 * Compiles the default prices of `default-prices.json`. The fields of a line:
 * - model
 * - first day; `*` is any day
 * - maximum input tokens; `*` is no bound
 * - rates of input, cache read, cache write, one-hour cache write, output and reasoning, in pico-US-dollars per token
 * - further names; a name with `~` can have a version or date as suffix
 */
import type { Price, PriceTier } from '../../core/price.ts';

/** Prices of a model by day. */
export interface PricedModel {
	readonly model: string;
	/** Prices in ascending order of days; the first also applies to earlier days. Days are UTC, such as `2026-11-21`. */
	readonly epochs: readonly { readonly from: string; readonly price: Price }[];
}

/** Priced models of one kind of provider. */
export interface PriceList {
	readonly models: readonly PricedModel[];
	/** Models by every name; a name can have a full date as suffix. */
	readonly byName: ReadonlyMap<string, PricedModel>;
	/** Models by the names that can have a version or any date as suffix. */
	readonly byOpenName: ReadonlyMap<string, PricedModel>;
}

interface Line {
	readonly model: string;
	readonly from: string;
	readonly tier: PriceTier;
	readonly names: readonly string[];
}

export interface PriceTable {
	/** Day of the table, used as the version of its prices. */
	readonly day: string;
	/** Lines by kind of provider. */
	readonly lists: Readonly<Record<string, readonly string[]>>;
}

/** @returns lists by kind of provider. */
export function compilePrices({ day, lists }: PriceTable): ReadonlyMap<string, PriceList> {
	return new Map(Object.entries(lists).map(([kind, lines]) => [kind, compileList(lines.map(readLine), day)]));
}

function readLine(line: string): Line {
	const [model = '', from = '', upTo = '', input, read, write, writeHour, output, reasoning, ...names] = line.split(/ +/);
	const rate = (cell: string | undefined): bigint => BigInt(cell ?? 'missing');
	return {
		model,
		from,
		names: [model, ...names],
		tier: {
			upToInputTokens: upTo === '*' ? null : Number(upTo),
			inputPicoUsd: rate(input),
			cacheReadPicoUsd: rate(read),
			cacheWritePicoUsd: rate(write),
			cacheWriteHourPicoUsd: rate(writeHour),
			outputPicoUsd: rate(output),
			reasoningPicoUsd: rate(reasoning),
		},
	};
}

function compileList(lines: readonly Line[], day: string): PriceList {
	const models: PricedModel[] = [];
	const byName = new Map<string, PricedModel>();
	const byOpenName = new Map<string, PricedModel>();
	for (const [model, ofModel] of Map.groupBy(lines, (line) => line.model)) {
		const epochs = [...Map.groupBy(ofModel, ({ from }) => from)].map(([from, ofEpoch]) => ({
			from,
			price: { version: `default:${from === '*' ? day : from}`, tiers: ofEpoch.map(({ tier }) => tier) },
		}));
		const priced = { model: model.replace('~', ''), epochs };
		models.push(priced);
		for (const name of ofModel.flatMap(({ names }) => names)) {
			byName.set(name.replace('~', ''), priced);
			if (name.endsWith('~')) byOpenName.set(name.slice(0, -1), priced);
		}
	}
	return { models, byName, byOpenName };
}
