import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { fitName, longestToolName } from '../fit-name.ts';
import { objectAt, stringAt } from '../messages/fields.ts';
import { refuseField } from '../refuse-field.ts';

/** Client tools alone: what the other vendor runs itself, or trained its own models for, nobody else can offer. */
export function translateTools(tools: readonly unknown[]): readonly JsonObject[] {
	return tools.map((tool, index) => translateTool(objectAt(tool, `tools[${index}]`), `tools[${index}]`));
}

function translateTool({ type, name, description, input_schema, strict }: JsonObject, path: string): JsonObject {
	if (type !== undefined && type !== null && type !== 'custom') {
		refuseField(`${path}.type`, 'names a tool of the other vendor’s own: offer tools with a `name` and an `input_schema` instead');
	}
	return {
		type: 'function',
		function: {
			name: fitName(stringAt(name, `${path}.name`), longestToolName),
			...(typeof description === 'string' && { description }),
			parameters: parametersOf(objectAt(input_schema, `${path}.input_schema`)),
			...(typeof strict === 'boolean' && { strict }),
		},
	};
}

/** OpenAI refuses an object schema without `properties`. */
function parametersOf(schema: JsonObject): JsonObject {
	if (schema.type === 'object' && isJsonObject(schema.properties)) return schema;
	return {
		...schema,
		type: schema.type ?? 'object',
		...((schema.type ?? 'object') === 'object' && { properties: schema.properties ?? {} }),
	};
}

/** `tool_choice` and `parallel_tool_calls`, for a request that offers tools. */
export function translateToolChoice(choice: unknown, takesParallelFlag: boolean): JsonObject {
	if (choice === undefined || choice === null) return {};
	const { type, name, disable_parallel_tool_use } = objectAt(choice, 'tool_choice');
	const parallel = disable_parallel_tool_use === true && takesParallelFlag ? { parallel_tool_calls: false } : {};
	switch (type) {
		case 'auto':
			return { tool_choice: 'auto', ...parallel };
		case 'any':
			return { tool_choice: 'required', ...parallel };
		case 'none':
			return { tool_choice: 'none' };
		case 'tool': {
			const named = fitName(stringAt(name, 'tool_choice.name'), longestToolName);
			return { tool_choice: { type: 'function', function: { name: named } }, ...parallel };
		}
		default:
			return refuseField('tool_choice.type', 'must be `auto`, `any`, `tool` or `none`');
	}
}
