import { array, checkFields, checkInside, checkMessages, type FieldTable, modelName, object } from '../../formats/field-checks.ts';
import type { Format } from '../../formats/format.ts';
import { cap, messages, thinking } from './messages.ts';

const required: FieldTable = { model: modelName };

const optional: FieldTable = { max_tokens: cap, tools: array, tool_choice: object, thinking: object };

/** A messages request that is only counted. */
export const tokenCounting: Format = {
	...messages,
	path: '/v1/messages/count_tokens',
	validate(body) {
		checkFields(body, required, optional);
		checkInside(body, 'thinking', thinking);
		checkMessages(body, () => false);
	},
};
