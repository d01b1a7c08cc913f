import { remembering } from '../../../core/bounded-map.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { dropWarning, type Repair, type RepairTarget } from '../../repair-parameters.ts';
import { chatModel } from './model.ts';

/** Regular expressions over names, once a name. */
const chatModelOf = remembering(1000, chatModel);

export function repairChat(members: JsonObject, { knownAs, isListed, said }: RepairTarget): Repair | undefined {
	const { max_tokens, max_completion_tokens, temperature, top_p, reasoning_effort } = members;
	const hasCap = isGiven(max_tokens);
	if (!hasCap && temperature === undefined && top_p === undefined) return undefined;
	const named = isListed() ? chatModelOf(knownAs) : undefined;
	const rejectsCap = hasCap && (said.tokenParam ?? named?.tokenParam) === 'max_completion_tokens';
	// Newer reasoning models sample freely once they are told not to reason.
	const samples = reasoning_effort === 'none' && named?.efforts.includes('none') === true;
	const rejectsSampling = said.sampling === undefined ? named?.takesSampling === false && !samples : said.sampling === 'none';
	const dropped = rejectsSampling ? ['temperature', 'top_p'].filter((name) => isOtherThanOne(members[name])) : [];
	if (!rejectsCap && dropped.length === 0) return undefined;
	const hasBoth = rejectsCap && isGiven(max_completion_tokens);
	const renamesCap = rejectsCap && !hasBoth;
	const removed = [...dropped];
	if (hasBoth) removed.push('max_tokens');
	// A null under the new name would be a second member of that name.
	if (renamesCap && max_completion_tokens !== undefined) removed.push('max_completion_tokens');
	return {
		removed,
		renamed: renamesCap ? ['max_tokens', 'max_completion_tokens'] : undefined,
		warnings: [
			...(renamesCap ? ['max_tokens: sent as max_completion_tokens, the name that the model accepts'] : []),
			...(hasBoth ? ['max_tokens: dropped, because the request has max_completion_tokens'] : []),
			...dropped.map(dropWarning),
		],
	};
}

function isGiven(value: unknown): boolean {
	return value !== undefined && value !== null;
}

/** What is no number is the client's mistake, which the provider's own error names. */
function isOtherThanOne(value: unknown): boolean {
	return typeof value === 'number' && value !== 1;
}
