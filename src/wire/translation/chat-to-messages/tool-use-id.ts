import { fitName } from '../fit-name.ts';
import { refuseField } from '../refuse-field.ts';

/** Longer ones have not been seen to be taken. */
const longestUseId = 128;

/** Far longer than any vendor's; each has to be hashed. */
const longestCallId = 1024;

/** A tool call's id as the provider takes it, the same for the call and its result. @throws Refusal `field_invalid`. */
export function toolUseId(id: unknown, path: string): string {
	const isUsable = typeof id === 'string' && id.length <= longestCallId;
	return isUsable ? fitName(id, longestUseId) : refuseField(path, `must be a string of at most ${longestCallId} characters`);
}
