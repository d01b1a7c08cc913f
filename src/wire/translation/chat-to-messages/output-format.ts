import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { requireSchemaTaken } from '../model-limits.ts';
import { refuseField } from '../refuse-field.ts';
import type { RequestWarnings } from '../request-warnings.ts';
import type { ClaudeModel } from './claude-model.ts';
import { closedSchema } from './closed-schema.ts';

export interface OutputFormat {
	readonly format?: JsonObject;
	/** A wish that the provider has no field for. */
	readonly systemText?: string;
}

/** From `response_format`. @throws Refusal `field_invalid`. */
export function translateOutputFormat({ response_format }: JsonObject, model: ClaudeModel, warnings: RequestWarnings): OutputFormat {
	if (response_format === undefined || response_format === null) return {};
	const { type, json_schema } = isJsonObject(response_format) ? response_format : {};
	switch (type) {
		case 'text':
			return {};
		case 'json_object':
			warnings.add('response_format', 'json_object is asked for in the system prompt only');
			return { systemText: 'Answer with a single JSON object and nothing else.' };
		case 'json_schema': {
			const schema = isJsonObject(json_schema) ? json_schema.schema : undefined;
			requireSchemaTaken('response_format', model);
			if (!isJsonObject(schema)) return refuseField('response_format.json_schema.schema', 'must be a JSON schema as an object');
			return { format: { type: 'json_schema', schema: closedSchema(schema) } };
		}
		default:
			return refuseField('response_format.type', 'must be `text`, `json_object` or `json_schema`');
	}
}
