/**
 * Money is whole nano-US-dollars in a `bigint`; rates of a price are whole pico-US-dollars a token. Only `costNanoUsd` of a price rounds,
 * once per request and upward.
 */

export const picoUsdPerNanoUsd = 1_000n;

const usdDecimals = 9;
/** A US dollar per million tokens is a million pico-US-dollars a token. */
const rateDecimals = 6;

/** Parses decimal US dollars such as `100.00`, with at most nine decimals. @returns undefined for anything else. */
export function parseUsd(text: string): bigint | undefined {
	return parseDecimal(text, usdDecimals);
}

/** Formats decimal US dollars with two to nine decimals, such as `100.00` or `0.000000125`. */
export function formatUsd(nanoUsd: bigint): string {
	return formatDecimal(nanoUsd, usdDecimals);
}

/**
 * Parses a rate in decimal US dollars per million tokens such as `2.50`, with at most six decimals.
 * @returns pico-US-dollars a token; undefined for anything else.
 */
export function parseUsdPerMillionTokens(text: string): bigint | undefined {
	return parseDecimal(text, rateDecimals);
}

/** Formats decimal US dollars per million tokens with two to six decimals, such as `2.50` or `0.0375`. */
export function formatUsdPerMillionTokens(picoUsd: bigint): string {
	return formatDecimal(picoUsd, rateDecimals);
}

const unsignedDecimal = /^(\d{1,15})(?:\.(\d{1,9}))?$/;

function parseDecimal(text: string, decimals: number): bigint | undefined {
	const match = unsignedDecimal.exec(text);
	if (match === null) return undefined;
	const [, whole = '0', fraction = ''] = match;
	return fraction.length > decimals ? undefined : BigInt(whole + fraction.padEnd(decimals, '0'));
}

const minDecimals = 2;

function formatDecimal(amount: bigint, decimals: number): string {
	const digits = (amount < 0n ? -amount : amount).toString().padStart(decimals + 1, '0');
	const point = digits.length - decimals;
	let end = digits.length;
	while (end > point + minDecimals && digits[end - 1] === '0') end--;
	return `${amount < 0n ? '-' : ''}${digits.slice(0, point)}.${digits.slice(point, end)}`;
}
