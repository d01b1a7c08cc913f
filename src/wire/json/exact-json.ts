/** Not yet in the types: a number that is written as its source says. */
const exactJson = JSON as unknown as {
	rawJSON(source: string): unknown;
	isRawJSON(value: unknown): boolean;
	parse(text: string, revive: (key: string, value: unknown, context: { readonly source?: string }) => unknown): unknown;
};

/** An integer that a double may not hold; looked for first, because reviving is slow. */
const longNumber = /[:,[]\s*-?\d{16}/;

/**
 * As `JSON.parse`, but integers that a double cannot hold keep their digits when they are serialized again.
 * @throws SyntaxError
 */
export function parseExactly(text: string): unknown {
	return longNumber.test(text) ? exactJson.parse(text, keepDigits) : JSON.parse(text);
}

/** Such an integer, which looks like an object until it is serialized. */
export function isExactInteger(value: unknown): boolean {
	return exactJson.isRawJSON(value);
}

function keepDigits(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
	return Number.isInteger(value) && !Number.isSafeInteger(value) && source !== undefined ? exactJson.rawJSON(source) : value;
}
