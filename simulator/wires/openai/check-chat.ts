/** Validates requests by the rules of OpenAI's chat completions, with its error messages. */
import { isGiven, isObject, type JsonObject, listOf, objectOf, textOf } from '../../json-value.ts';
import { openObjectPath } from '../open-object-path.ts';
import { checkChatMessages } from './check-chat-messages.ts';
import { checkNumbers, type NumberRule } from './check-numbers.ts';
import type { OpenAiModel } from './openai-models.ts';
import { articled, reject } from './reject.ts';

const knownFields = new Set(
	`model messages max_completion_tokens max_tokens temperature top_p n stop stream stream_options tools tool_choice parallel_tool_calls
	response_format reasoning_effort verbosity logprobs top_logprobs logit_bias frequency_penalty presence_penalty seed user safety_identifier
	prompt_cache_key prompt_cache_options prompt_cache_retention metadata store service_tier modalities audio prediction web_search_options
	moderation functions function_call`.split(/\s+/),
);

/** @throws VendorError when the vendor would reject the request. */
export function checkChat(body: JsonObject, model: OpenAiModel): void {
	for (const field of Object.keys(body)) {
		if (!knownFields.has(field)) reject(`Unrecognized request argument supplied: ${field}`);
	}
	if (!isGiven(body['messages'])) {
		reject("Missing required parameter: 'messages'.", { param: 'messages', code: 'missing_required_parameter' });
	}
	checkChatMessages(body['messages']);
	checkNumbers(body, numberRules);
	checkForModel(body, model);
	checkStop(body['stop']);
	checkTools(body, model);
	checkResponseFormat(body['response_format']);
	if (isGiven(body['stream_options']) && body['stream'] !== true) {
		reject("The 'stream_options' parameter is only allowed when 'stream' is enabled.", { param: 'stream_options' });
	}
	if (textOf(body['user']).length > 64) {
		const length = textOf(body['user']).length;
		reject(`Invalid 'user': string too long. Expected a string with maximum length 64, but got a string with length ${length} instead.`, {
			param: 'user',
			code: 'string_above_max_length',
		});
	}
}

export const numberRules: readonly NumberRule[] = [
	{ field: 'temperature', min: 0, max: 2, kind: 'decimal' },
	{ field: 'top_p', min: 0, max: 1, kind: 'decimal' },
	{ field: 'frequency_penalty', min: -2, max: 2, kind: 'decimal' },
	{ field: 'presence_penalty', min: -2, max: 2, kind: 'decimal' },
	{ field: 'n', min: 1, max: 128, kind: 'integer' },
	{ field: 'max_tokens', min: 1, max: Number.MAX_SAFE_INTEGER, kind: 'integer' },
	{ field: 'max_completion_tokens', min: 1, max: Number.MAX_SAFE_INTEGER, kind: 'integer' },
	{ field: 'top_logprobs', min: 0, max: 20, kind: 'integer' },
];

function checkForModel(body: JsonObject, model: OpenAiModel): void {
	if (!model.takesMaxTokens && isGiven(body['max_tokens'])) {
		reject("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", {
			param: 'max_tokens',
			code: 'unsupported_parameter',
		});
	}
	for (const field of model.takesSampling ? [] : ['temperature', 'top_p']) {
		const value = body[field];
		if (isGiven(value) && value !== 1) {
			reject(`Unsupported value: '${field}' does not support ${String(value)} with this model. Only the default (1) value is supported.`, {
				param: field,
				code: 'unsupported_value',
			});
		}
	}
	for (const field of [...(model.takesStop ? [] : ['stop']), ...(model.takesEffort ? [] : ['reasoning_effort'])]) {
		if (isGiven(body[field])) {
			reject(`Unsupported parameter: '${field}' is not supported with this model.`, { param: field, code: 'unsupported_parameter' });
		}
	}
}

export function checkStop(stop: unknown): void {
	if (!isGiven(stop) || typeof stop === 'string') return;
	if (!Array.isArray(stop) || stop.some((entry) => typeof entry !== 'string')) {
		reject(`Invalid type for 'stop': expected a string or an array of strings, but got ${articled(stop)} instead.`, {
			param: 'stop',
			code: 'invalid_type',
		});
	} else if (stop.length > 4) {
		reject(
			`Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array with length ${stop.length} instead.`,
			{
				param: 'stop',
				code: 'array_above_max_length',
			},
		);
	}
}

function checkTools(body: JsonObject, model: OpenAiModel): void {
	const tools = listOf(body['tools']);
	for (const [index, tool] of tools.entries()) checkTool(tool, index);
	if (tools.length === 0) {
		if (isGiven(body['tool_choice']) && body['tool_choice'] !== 'none') {
			reject("Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.", { param: 'tool_choice' });
		}
		if (isGiven(body['parallel_tool_calls'])) {
			reject("Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are specified.", {
				param: 'parallel_tool_calls',
			});
		}
		return;
	}
	const effort = body['reasoning_effort'];
	const isEffortless = effort === 'none' || (!isGiven(effort) && model.toolsNeedEffortNone !== 'always');
	if (model.toolsNeedEffortNone !== 'never' && !isEffortless) {
		reject(
			`Function tools with reasoning_effort are not supported for ${model.snapshot} in /v1/chat/completions. ` +
				"To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
			{ param: 'reasoning_effort' },
		);
	}
	const named = textOf(objectOf(objectOf(body['tool_choice'])['function'])['name']);
	const names = tools.map((tool) => textOf(objectOf(objectOf(tool)['function'])['name']));
	if (named !== '' && !names.includes(named)) {
		reject(`Tool choice 'function' not found in 'tools' parameter.`, { param: 'tool_choice' });
	}
}

function checkTool(tool: unknown, index: number): void {
	const { type } = objectOf(tool);
	if (type !== 'function' && type !== 'custom') {
		reject(`Invalid value: '${textOf(type)}'. Supported values are: 'function' and 'custom'.`, {
			param: `tools[${index}].type`,
			code: 'invalid_value',
		});
	}
	const name = objectOf(objectOf(tool)[type])['name'];
	const param = `tools[${index}].${type}.name`;
	if (typeof name !== 'string') reject(`Missing required parameter: '${param}'.`, { param, code: 'missing_required_parameter' });
	if (!/^[a-zA-Z0-9_-]+$/.test(name)) {
		reject(`Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`, {
			param,
			code: 'invalid_value',
		});
	}
	if (name.length > 64) {
		reject(
			`Invalid '${param}': string too long. Expected a string with maximum length 64, but got a string with length ${name.length} instead.`,
			{
				param,
				code: 'string_above_max_length',
			},
		);
	}
}

function checkResponseFormat(format: unknown): void {
	if (!isGiven(format)) return;
	const { type, json_schema: named } = objectOf(format);
	if (type !== 'text' && type !== 'json_object' && type !== 'json_schema') {
		reject(`Invalid value: '${textOf(type)}'. Supported values are: 'json_object', 'json_schema', and 'text'.`, {
			param: 'response_format.type',
			code: 'invalid_value',
		});
	}
	if (type !== 'json_schema') return;
	if (!isObject(named)) {
		reject("Missing required parameter: 'response_format.json_schema'.", {
			param: 'response_format.json_schema',
			code: 'missing_required_parameter',
		});
	}
	const { name, strict, schema } = objectOf(named);
	if (typeof name !== 'string') {
		reject("Missing required parameter: 'response_format.json_schema.name'.", {
			param: 'response_format.json_schema.name',
			code: 'missing_required_parameter',
		});
	}
	const open = strict === true ? openObjectPath(schema, []) : undefined;
	if (open !== undefined) {
		const context = open.length === 0 ? '()' : `(${open.map((step) => `'${step}'`).join(', ')})`;
		reject(
			`Invalid schema for response_format '${name}': In context=${context}, 'additionalProperties' is required to be supplied and to be false.`,
			{ param: 'response_format' },
		);
	}
}
