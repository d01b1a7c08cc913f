import { geminiToolName } from '../../dialects/gemini/tool-names.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { listAt, objectAt, stringAt } from '../messages/fields.ts';
import { refuseField } from '../refuse-field.ts';
import type { RequestWarnings } from '../request-warnings.ts';

/** `tools` and `toolConfig`, to be spread into the request. @throws Refusal `field_invalid`. */
export function translateTools({ tools, tool_choice }: JsonObject, warnings: RequestWarnings): JsonObject {
	const functionDeclarations = listAt(tools).map((tool, index) =>
		declarationOf(objectAt(tool, `tools[${index}]`), `tools[${index}]`, warnings),
	);
	if (functionDeclarations.length === 0) return {};
	const config = callingConfig(tool_choice, warnings);
	return { tools: [{ functionDeclarations }], ...(config !== undefined && { toolConfig: { functionCallingConfig: config } }) };
}

/** Client tools alone: what the other vendor runs itself, or trained its own models for, nobody else can offer. */
function declarationOf({ type, name, description, input_schema, strict }: JsonObject, path: string, warnings: RequestWarnings): JsonObject {
	if (type !== undefined && type !== null && type !== 'custom') {
		refuseField(`${path}.type`, 'names a tool of the other vendor’s own: offer tools with a `name` and an `input_schema` instead');
	}
	if (strict === true) warnings.add('strict', 'ignored, for the provider does not enforce the schemas of tools');
	return {
		name: geminiToolName(stringAt(name, `${path}.name`)),
		...(typeof description === 'string' && { description }),
		parametersJsonSchema: objectAt(input_schema, `${path}.input_schema`),
	};
}

function callingConfig(choice: unknown, warnings: RequestWarnings): JsonObject | undefined {
	if (choice === undefined || choice === null) return undefined;
	const { type, name, disable_parallel_tool_use } = objectAt(choice, 'tool_choice');
	if (disable_parallel_tool_use === true) {
		warnings.add('tool_choice.disable_parallel_tool_use', 'ignored because the model may always call several tools');
	}
	switch (type) {
		case 'auto':
			return undefined;
		case 'any':
			return { mode: 'ANY' };
		case 'none':
			return { mode: 'NONE' };
		case 'tool':
			return { mode: 'ANY', allowedFunctionNames: [geminiToolName(stringAt(name, 'tool_choice.name'))] };
		default:
			return refuseField('tool_choice.type', 'must be `auto`, `any`, `tool` or `none`');
	}
}
