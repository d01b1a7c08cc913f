/**
 * Reads the table of default prices: `default-prices.json`. A line: model, first day, input tokens up to, rates of input, cache read, cache
 * write, cache write for an hour, output and reasoning, further names. `*` is any day or no bound; a name with `~` goes on in a version or a
 * date. Rates are pico-US-dollars a token.
 */
import type { Price, PriceTier } from '../../core/price.ts';

/** What a model costs from which day on. */
export interface PricedModel {
	readonly model: string;
	/** Ascending; the first is for any day before the second. Days are UTC, such as `2026-11-21`. */
	readonly epochs: readonly { readonly from: string; readonly price: Price }[];
}

/** The priced models of one kind of provider. */
export interface PriceList {
	readonly models: readonly PricedModel[];
	/** By every name; a name may go on in a whole date. */
	readonly byName: ReadonlyMap<string, PricedModel>;
	/** By the names that may go on in a version or any date. */
	readonly byOpenName: ReadonlyMap<string, PricedModel>;
}

interface Line {
	readonly model: string;
	readonly from: string;
	readonly tier: PriceTier;
	readonly names: readonly string[];
}

export interface PriceTable {
	/** From which the table is, for the versions of its prices. */
	readonly day: string;
	/** Lines, by kind of provider. */
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
