import type { ClientDialect } from '../dialect.ts';
import { array, checkFields, checkInside, checkMessages, type FieldTable, modelName, object } from '../field-checks.ts';
import { cap, messages, thinking } from './messages.ts';

const required: FieldTable = { model: modelName };

const optional: FieldTable = { max_tokens: cap, tools: array, tool_choice: object, thinking: object };

/** A messages request that is only counted. */
export const tokenCounting: ClientDialect = {
	...messages,
	validate(body) {
		checkFields(body, required, optional);
		checkInside(body, 'thinking', thinking);
		checkMessages(body, () => false);
	},
};
