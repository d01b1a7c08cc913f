import type { JsonBody, JsonObject } from '../json/parse-body.ts';
import type { Edit } from '../json/splice-body.ts';

/** No provider gives more choices; OpenAI's most. */
export const mostChoices = 128;
/** Greater numbers are no caps: providers count in 32 bits, and money must stay countable. */
export const greatestCap = 2 ** 31 - 1;

/** What a request, in either format, asks for at most. */
export interface RequestedOutput {
	/** Of one choice; of two caps the greater, for providers differ in which they take. Undefined: no cap. */
	readonly capTokens: number | undefined;
	readonly choices: number;
}

/**
 * @param capMembers the members of `request` that cap a choice's output.
 * @param choices how many the request asks for, if it can.
 */
export function requestedOutput(request: JsonObject, capMembers: readonly string[], choices?: unknown): RequestedOutput {
	let capTokens: number | undefined;
	for (const name of capMembers) {
		const cap = wholeNumber(request[name], greatestCap);
		if (cap !== undefined && cap > (capTokens ?? -1)) capTokens = cap;
	}
	return { capTokens, choices: Math.max(1, wholeNumber(choices, mostChoices) ?? 1) };
}

/** What is out of bounds is refused where requests are read; what comes here all the same must not become an amount. */
function wholeNumber(value: unknown, most: number): number | undefined {
	if (typeof value !== 'number' || Number.isNaN(value)) return undefined;
	return Math.min(Math.max(0, Math.ceil(value)), most);
}

/**
 * Changes or adds the cap of a request. A member that is null is none.
 * @param body with the places of the members known.
 * @param capMembers the members that cap; the first is what the provider reads, added when the request has none.
 */
export function writeCap(
	{ bytes, members, ranges }: JsonBody,
	tokens: number,
	capMembers: readonly [string, ...string[]],
): readonly Edit[] {
	const text = String(tokens);
	const edits = capMembers.flatMap((name) => {
		const range = ranges.get(name);
		return range === undefined || members[name] === null ? [] : [{ ...range, text }];
	});
	if (edits.length > 0) return edits;
	const [name] = capMembers;
	const range = ranges.get(name);
	if (range !== undefined) return [{ ...range, text }];
	const end = bytes.lastIndexOf(0x7d);
	return [{ start: end, end, text: `,"${name}":${text}` }];
}
