import { Rejection } from '../../../core/rejection.ts';
import { isJsonObject, type JsonBody, type JsonObject } from '../../json/parse-body.ts';
import type { Edit } from '../../json/splice-body.ts';
import { dropWarning, type Repair, type RepairTarget } from '../../repair-parameters.ts';
import { chatModel } from '../chat/model.ts';
import { rejectedSampling } from '../chat/request-edits.ts';
import type { StateMode } from '../state.ts';
import { containersOfTools } from './containers.ts';

export interface StateRules {
	/** True if the vendor stores responses when the client asks for it. */
	readonly storesResponses: boolean;
	/** True if requests may refer to stored responses, conversations and items. */
	readonly takesReferences: boolean;
}

/** Decides what requests may store and refer to. Ids at the vendor belong to the gateway's account, not to one team. */
export function stateRulesOf(state: StateMode): StateRules {
	return { off: { storesResponses: false, takesReferences: false }, owner: { storesResponses: true, takesReferences: true } }[state];
}

const none: readonly Edit[] = [];
const closeBrace = 0x7d;

/**
 * Returns the edits by which the vendor stores nothing. Without the field, it would store the response.
 * @param body with the range of `store` located.
 */
export function storageEdits(body: JsonBody, { storesResponses }: StateRules): readonly Edit[] {
	return storesResponses || body.members.store === false ? none : writeMember(body, 'store', 'false');
}

/** Replaces or adds a member. @param body with the range of the member located. @param json its value. */
export function writeMember({ bytes, ranges }: JsonBody, name: string, json: string): readonly Edit[] {
	const range = ranges.get(name);
	if (range !== undefined) return [{ ...range, text: json }];
	// The last brace closes the body, which has at least the member `model`.
	const end = bytes.lastIndexOf(closeBrace);
	return [{ start: end, end, text: `,"${name}":${json}` }];
}

export const resendCure = 'send the whole conversation in `input`, with `store: false`';

/** For the client that refers to items by default. */
export const itemCure = '. With the Vercel AI SDK, set `providerOptions.openai.store` to `false`';

const cure = `this gateway keeps no responses: ${resendCure}`;

const containerCure = 'this gateway keeps no containers: let the provider create one, with `{"type": "auto"}`';

const promptCure = 'this gateway uses no stored prompts: send the text in `instructions` and `input`';

/** @throws `Rejection` `field_invalid` for a request that refers to stored content, or must be stored. */
export function rejectReferences(members: JsonObject, { storesResponses, takesReferences }: StateRules): void {
	const { previous_response_id, conversation, background, store, prompt, prompt_cache_options: cache } = members;
	if (!takesReferences) {
		if (isGiven(previous_response_id)) throw unsupported('previous_response_id', cure);
		if (isGiven(conversation)) throw unsupported('conversation', cure);
		if (isJsonObject(cache) && isGiven(cache.comparison_response_id)) {
			throw unsupported('prompt_cache_options.comparison_response_id', cure);
		}
		const [container] = containersOfTools(members);
		if (container !== undefined) throw unsupported(container.param, containerCure);
	}
	// Guardrails cannot read a stored prompt, and all teams could use it.
	if (isJsonObject(prompt) && isGiven(prompt.id)) throw unsupported('prompt', storesResponses ? promptCure : cure);
	if (background !== true) return;
	if (!storesResponses) throw unsupported('background', `${cure} and without \`background\``);
	// The cost of a background response is known only from the stored one.
	if (store === false) throw unsupported('background', 'the response would not be stored: omit `store: false`, or omit `background`');
}

/** @param path of an item that stands for a stored one. */
export function storedItem(path: string): Rejection {
	return unsupported(path, cure + itemCure);
}

function unsupported(param: string, reason: string): Rejection {
	return new Rejection('field_invalid', { param, message: `\`${param}\` is not supported: ${reason}` });
}

export function isGiven(value: unknown): boolean {
	return value !== undefined && value !== null;
}

export function repairResponses(members: JsonObject, { knownAs, isListed, said }: RepairTarget): Repair | undefined {
	const { temperature, top_p, reasoning } = members;
	if (temperature === undefined && top_p === undefined) return undefined;
	const effort = isJsonObject(reasoning) ? reasoning.effort : undefined;
	const removed = rejectedSampling(members, effort, isListed() ? chatModel(knownAs) : undefined, said);
	return removed.length === 0 ? undefined : { removed, warnings: removed.map(dropWarning) };
}
