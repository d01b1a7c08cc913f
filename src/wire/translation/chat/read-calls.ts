import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { parseArguments } from '../read-json.ts';
import { refuseField } from '../refuse-field.ts';

/** A call in the caller's history. */
export interface ChatCall {
	/** As the caller wrote it. */
	readonly id: unknown;
	readonly name: string;
	readonly input: JsonObject;
	readonly path: string;
	readonly source: JsonObject;
}

/** @param index of the message, for paths and for the id of a call that has none. @throws Refusal `field_invalid`. */
export function readCalls(message: JsonObject, index: number): readonly ChatCall[] {
	const path = `messages[${index}]`;
	const told: unknown = message.tool_calls ?? [];
	if (!Array.isArray(told)) return refuseField(`${path}.tool_calls`, 'must be an array');
	const calls = told.map((call: unknown, at) => toolCall(call, `${path}.tool_calls[${at}]`));
	if (isGiven(message.function_call)) {
		const at = `${path}.function_call`;
		calls.push({ id: `call_${index}`, ...functionOf(message.function_call, at), path: at, source: {} });
	}
	return calls;
}

/** @throws Refusal `field_invalid` for two calls of one id. */
export function requireOwnIds(calls: readonly { readonly id: string; readonly path: string }[]): void {
	const ids = new Set<string>();
	for (const { id, path } of calls) {
		if (ids.has(id)) refuseField(`${path}.id`, 'is the id of another call of the message: give each call its own');
		ids.add(id);
	}
}

function toolCall(call: unknown, path: string): ChatCall {
	if (!isJsonObject(call)) return refuseField(path, 'must be an object');
	if (isGiven(call.type) && call.type !== 'function') refuseField(`${path}.type`, 'must be `function`: this model has no custom tools');
	return { id: call.id, ...functionOf(call.function, `${path}.function`), path, source: call };
}

function functionOf(called: unknown, path: string): Pick<ChatCall, 'name' | 'input'> {
	const { name, arguments: text } = isJsonObject(called) ? called : {};
	if (typeof name !== 'string') return refuseField(`${path}.name`, 'must be a string');
	const input = typeof text === 'string' || !isGiven(text) ? parseArguments(typeof text === 'string' ? text : '') : undefined;
	if (input === undefined) return refuseField(`${path}.arguments`, 'must be a JSON object as a string');
	return { name, input };
}

function isGiven(value: unknown): boolean {
	return value !== undefined && value !== null;
}
