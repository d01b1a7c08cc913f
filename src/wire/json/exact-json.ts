/** Not in TypeScript's types yet: a number that is serialized as in its source. */
const exactJson = JSON as unknown as {
	rawJSON(source: string): unknown;
	isRawJSON(value: unknown): boolean;
	parse(text: string, revive: (key: string, value: unknown, context: { readonly source?: string }) => unknown): unknown;
};

/** Detects integers beyond the precision of a double. Checked first, because reviving is slow. */
const longNumber = /[:,[]\s*-?\d{16}/;

/**
 * Parses like `JSON.parse`, but integers beyond the precision of a double keep their digits when serialized again.
 * @throws SyntaxError
 */
export function parseExactly(text: string): unknown {
	return longNumber.test(text) ? exactJson.parse(text, keepDigits) : JSON.parse(text);
}

/** True for such an integer, which looks like an object until it is serialized. */
export function isExactInteger(value: unknown): boolean {
	return exactJson.isRawJSON(value);
}

function keepDigits(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
	return Number.isInteger(value) && !Number.isSafeInteger(value) && source !== undefined ? exactJson.rawJSON(source) : value;
}
