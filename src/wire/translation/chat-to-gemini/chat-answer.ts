/** What whole answers and streams of chat completions have in common. */
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import type { Finish } from '../gemini/finish.ts';
import type { ToldCall } from '../gemini/read-answer.ts';
import { callersToolNames } from '../gemini/tool-names.ts';
import type { TranslatedCall } from '../translation.ts';

export function completionId(responseId: unknown, { requestId }: TranslatedCall): string {
	return `chatcmpl-${typeof responseId === 'string' && responseId !== '' ? responseId : requestId}`;
}

/** Often there is none, and a result could not name its call. */
export function callId({ id }: ToldCall, completion: string, choice: number, index: number): string {
	if (typeof id === 'string' && id !== '') return id;
	return `call_${completion.slice('chatcmpl-'.length)}${choice === 0 ? '' : `_${choice}`}_${index}`;
}

export function finishReason(finish: Finish, isLegacy: boolean): string {
	if (finish === 'calls') return isLegacy ? 'function_call' : 'tool_calls';
	return finish === 'filtered' ? 'content_filter' : finish;
}

/** How the request's tools are named to its caller. */
export function toolNamesOf({ tools, functions }: JsonObject): (name: string) => string {
	const listed = [
		...(Array.isArray(tools) ? (tools as readonly unknown[]) : []),
		...(Array.isArray(functions) ? (functions as readonly unknown[]) : []),
	];
	return callersToolNames(
		listed.flatMap((tool) => {
			const { name } = isJsonObject(tool) ? (isJsonObject(tool.function) ? tool.function : tool) : {};
			return typeof name === 'string' ? [name] : [];
		}),
	);
}
