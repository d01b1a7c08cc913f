import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import type { Finish } from '../gemini/finish.ts';
import { callersToolNames } from '../gemini/tool-names.ts';
import { listAt } from '../messages/fields.ts';
import { renderStop } from '../messages/message-answer.ts';

const reasons: Readonly<Record<Finish, string>> = { stop: 'end_turn', calls: 'tool_use', length: 'max_tokens', filtered: 'refusal' };

export function stopOf(finish: Finish): JsonObject {
	return renderStop(reasons[finish], null);
}

/** Of a prompt that got no answer. */
export function stopOfBlocked(reason: string): JsonObject {
	return renderStop('refusal', `The provider’s filter stopped the prompt: ${reason}`);
}

/** How the request's tools are named to its caller. */
export function toolNamesOf({ tools }: JsonObject): (name: string) => string {
	return callersToolNames(listAt(tools).flatMap((tool) => (isJsonObject(tool) && typeof tool.name === 'string' ? [tool.name] : [])));
}
