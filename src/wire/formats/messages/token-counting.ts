import { array, checkFields, checkMessages, type FieldTable, modelName, object } from '../field-checks.ts';
import type { Format } from '../format.ts';
import { messages } from './messages.ts';

const required: FieldTable = { model: modelName };

const optional: FieldTable = { tools: array, tool_choice: object, thinking: object };

/** A messages request that is only counted. */
export const tokenCounting: Format = {
	...messages,
	path: '/v1/messages/count_tokens',
	validate(body) {
		checkFields(body, required, optional);
		checkMessages(body, () => false);
	},
};
