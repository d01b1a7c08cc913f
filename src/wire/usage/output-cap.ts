import type { JsonBody, JsonObject } from '../json/parse-body.ts';
import type { Edit } from '../json/splice-body.ts';

/** The members that cap a choice's output, in the order in which they count. */
const capMembers = ['max_completion_tokens', 'max_tokens'] as const;

export type CapMember = (typeof capMembers)[number];

/** What a request, in either format, asks for at most. */
export interface RequestedOutput {
	/** Of one choice; of two caps the greater, for providers differ in which they take. Undefined: no cap. */
	readonly capTokens: number | undefined;
	readonly choices: number;
}

export function requestedOutput(members: JsonObject): RequestedOutput {
	const caps = capMembers.map((name) => members[name]).filter((cap) => typeof cap === 'number');
	return { capTokens: caps.length === 0 ? undefined : Math.max(...caps), choices: typeof members.n === 'number' ? members.n : 1 };
}

/**
 * Changes or adds the cap of a request.
 * @param body with the places of both members known.
 * @param absent the member to add when the request has none: what its provider reads.
 */
export function writeCap({ bytes, ranges }: JsonBody, tokens: number, absent: CapMember): readonly Edit[] {
	const edits = capMembers.flatMap((name) => {
		const range = ranges.get(name);
		return range === undefined ? [] : [{ ...range, text: String(tokens) }];
	});
	if (edits.length > 0) return edits;
	const end = bytes.lastIndexOf(0x7d);
	return [{ start: end, end, text: `,"${absent}":${tokens}` }];
}
