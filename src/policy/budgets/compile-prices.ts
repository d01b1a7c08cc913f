/** Reads the table of default prices, whose generator says how it is written. */
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

/** @param day from which the table is, for the versions of its prices. @returns lists by kind of provider. */
export function compilePrices(table: string, day: string): ReadonlyMap<string, PriceList> {
	const lists = new Map<string, PriceList>();
	for (const section of table.trim().split('\n\n')) {
		const [heading = '', ...lines] = section.split('\n');
		lists.set(heading.slice(1, -1), compileList(lines.map(readLine), day));
	}
	return lists;
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
