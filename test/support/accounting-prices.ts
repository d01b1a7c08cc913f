/** Costs of requests, computed from the published table alone, without code of the gateway. */
import defaultPrices from '../../src/policy/budgets/default-prices.json' with { type: 'json' };

/** Disjoint buckets of tokens. */
export interface TokenCounts {
	readonly input: number;
	readonly cacheRead: number;
	readonly cacheWrite: number;
	readonly cacheWriteHour: number;
	/** Output without reasoning. */
	readonly output: number;
	readonly reasoning: number;
}

/** Counts of a request without cache and reasoning tokens. */
export function plainCounts(input: number, output: number): TokenCounts {
	return { input, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0, output, reasoning: 0 };
}

/** Pico-US-dollars per token, in the order of the table: input, cache read, cache write, cache write for an hour, output, reasoning. */
export type Rates = readonly bigint[];

/**
 * @param model as the table names it, without a date.
 * @param rates replace those of the table.
 * @returns nano-US-dollars, rounded up once.
 */
export function reckonNanoUsd(model: string, counts: TokenCounts, rates?: Rates): bigint {
	const fullInput = counts.input + counts.cacheRead + counts.cacheWrite + counts.cacheWriteHour;
	const cells = rates ?? lineFor(model, fullInput).slice(3, 9).map(BigInt);
	const amounts = [counts.input, counts.cacheRead, counts.cacheWrite, counts.cacheWriteHour, counts.output, counts.reasoning];
	let picoUsd = 0n;
	for (const [index, amount] of amounts.entries()) picoUsd += BigInt(amount) * (cells[index] ?? 0n);
	return picoUsd / 1000n + (picoUsd % 1000n === 0n ? 0n : 1n);
}

/** Sections of the vendors themselves, whose model names do not occur in other sections at other prices. */
const sections = ['anthropic', 'openai'] as const;

function lineFor(model: string, fullInput: number): string[] {
	for (const section of sections) {
		for (const line of defaultPrices.lists[section]) {
			const cells = line.trim().split(/\s+/);
			if (cells[0]?.replace('~', '') !== model) continue;
			if (cells[1] !== '*') throw new Error(`${model} changes its price on ${cells[1]}: choose another model for this test`);
			if (cells[2] === '*' || fullInput <= Number(cells[2])) return cells;
		}
	}
	throw new Error(`${model} has no line in the table of prices`);
}

/** Converts decimal US dollars, as the gateway writes them, to nano-US-dollars. */
export function nanoUsdOf(usd: string): bigint {
	const [whole = '', fraction = ''] = usd.split('.');
	return BigInt(whole + fraction.padEnd(9, '0'));
}

/** Converts nano-US-dollars to decimal US dollars. */
export function usdOf(nanoUsd: bigint): string {
	const digits = nanoUsd.toString().padStart(10, '0');
	return `${digits.slice(0, -9)}.${digits.slice(-9)}`;
}
