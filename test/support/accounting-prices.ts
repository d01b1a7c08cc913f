/** What calls cost, worked out from the published table alone: a second opinion that shares no code with the gateway's. */
import defaultPrices from '../../src/policy/budgets/default-prices.json' with { type: 'json' };

/** Buckets that do not overlap. */
export interface TokenCounts {
	readonly input: number;
	readonly cacheRead: number;
	readonly cacheWrite: number;
	readonly cacheWriteHour: number;
	/** Without reasoning. */
	readonly output: number;
	readonly reasoning: number;
}

/** Of a call without caches and reasoning. */
export function plainCounts(input: number, output: number): TokenCounts {
	return { input, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0, output, reasoning: 0 };
}

/** Pico-US-dollars a token, in the order of the table: input, cache read, cache write, the same for an hour, output, reasoning. */
export type Rates = readonly bigint[];

/**
 * @param model as the table names it, without a date.
 * @param rates other than those of the table.
 * @returns nano-US-dollars, rounded up once.
 */
export function reckonNanoUsd(model: string, counts: TokenCounts, rates?: Rates): bigint {
	const wholeInput = counts.input + counts.cacheRead + counts.cacheWrite + counts.cacheWriteHour;
	const cells = rates ?? lineFor(model, wholeInput).slice(3, 9).map(BigInt);
	const amounts = [counts.input, counts.cacheRead, counts.cacheWrite, counts.cacheWriteHour, counts.output, counts.reasoning];
	let picoUsd = 0n;
	for (const [index, amount] of amounts.entries()) picoUsd += BigInt(amount) * (cells[index] ?? 0n);
	return picoUsd / 1000n + (picoUsd % 1000n === 0n ? 0n : 1n);
}

/** Those of the vendors themselves, whose models have no namesakes in other sections with other prices. */
const sections = ['anthropic', 'openai'] as const;

function lineFor(model: string, wholeInput: number): string[] {
	for (const section of sections) {
		for (const line of defaultPrices.lists[section]) {
			const cells = line.trim().split(/\s+/);
			if (cells[0]?.replace('~', '') !== model) continue;
			if (cells[1] !== '*') throw new Error(`${model} changes its price on ${cells[1]}: choose another model for this test`);
			if (cells[2] === '*' || wholeInput <= Number(cells[2])) return cells;
		}
	}
	throw new Error(`${model} has no line in the table of prices`);
}

/** Decimal US dollars, as the gateway writes them, in nano-US-dollars. */
export function nanoUsdOf(usd: string): bigint {
	const [whole = '', fraction = ''] = usd.split('.');
	return BigInt(whole + fraction.padEnd(9, '0'));
}

/** Nano-US-dollars as decimal US dollars. */
export function usdOf(nanoUsd: bigint): string {
	const digits = nanoUsd.toString().padStart(10, '0');
	return `${digits.slice(0, -9)}.${digits.slice(-9)}`;
}
