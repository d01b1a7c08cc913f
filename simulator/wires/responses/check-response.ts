/** Validates requests by the rules of the Responses API, with its error messages. */
import { isGiven, isObject, type JsonObject, listOf, objectOf, textOf } from '../../json-value.ts';
import { VendorError } from '../../vendor-error.ts';
import { openObjectPath } from '../open-object-path.ts';
import { checkNumbers, type NumberRule } from '../openai/check-numbers.ts';
import type { OpenAiModel } from '../openai/openai-models.ts';
import { reject } from '../openai/reject.ts';
import { checkItems } from './check-items.ts';
import { offeredTools } from './response-tools.ts';

const knownFields = new Set(
	`model input instructions max_output_tokens max_tool_calls stream stream_options store previous_response_id conversation background prompt
	include reasoning text tools tool_choice parallel_tool_calls temperature top_p top_logprobs truncation context_management metadata
	prompt_cache_key prompt_cache_options prompt_cache_retention safety_identifier user service_tier moderation access_programs image
	client_metadata`.split(/\s+/),
);

/** Parameters of chat completions that have another name here. */
const movedFields: Readonly<Record<string, string>> = {
	messages: 'input',
	max_tokens: 'max_output_tokens',
	max_completion_tokens: 'max_output_tokens',
	response_format: 'text.format',
	reasoning_effort: 'reasoning.effort',
	verbosity: 'text.verbosity',
};

const includable = [
	'file_search_call.results',
	'web_search_call.results',
	'web_search_call.action.sources',
	'message.input_image.image_url',
	'computer_call_output.output.image_url',
	'code_interpreter_call.outputs',
	'reasoning.encrypted_content',
	'message.output_text.logprobs',
];

const toolTypes = new Set(
	`function custom namespace tool_search apply_patch shell local_shell computer computer_use_preview web_search web_search_preview
	web_search_2025_08_26 web_search_preview_2025_03_11 file_search code_interpreter image_generation programmatic_tool_calling mcp`.split(
		/\s+/,
	),
);

/** @param owner see `sealContent`. @throws VendorError when the vendor would reject the request. */
export function checkResponse(body: JsonObject, model: OpenAiModel, owner: string): void {
	checkFields(body);
	if (!['input', 'previous_response_id', 'prompt', 'conversation'].some((field) => isGiven(body[field]))) {
		reject(`One of "input" or "previous_response_id" or 'prompt' or 'conversation_id' must be provided.`, {
			code: 'missing_required_parameter',
		});
	}
	checkReferences(body);
	checkItems(body['input'] ?? [], owner);
	checkNumbers(body, numberRules);
	checkForModel(body, model);
	checkInclude(body['include'], model);
	for (const [index, tool] of listOf(body['tools']).entries()) checkTool(objectOf(tool), `tools[${index}]`);
	checkToolChoice(body);
	checkFormat(body);
}

function checkFields(body: JsonObject): void {
	for (const field of Object.keys(body)) {
		const moved = movedFields[field];
		if (moved !== undefined) {
			reject(
				`Unsupported parameter: '${field}'. In the Responses API, this parameter has moved to '${moved}'. Try again with the new parameter. ` +
					'See the API documentation for more information: https://platform.openai.com/docs/api-reference/responses/create.',
				{ param: field, code: 'unsupported_parameter' },
			);
		}
		if (!knownFields.has(field)) reject(`Unknown parameter: '${field}'.`, { param: field, code: 'unknown_parameter' });
	}
}

/** Rejects what would be stored elsewhere: the simulator has no conversations and no prompt templates. */
function checkReferences({ conversation, prompt, background, store }: JsonObject): void {
	if (isGiven(conversation)) {
		const id = textOf(conversation) || textOf(objectOf(conversation)['id']);
		throw new VendorError('invalid', `Conversation with id '${id}' not found.`, { status: 404 });
	}
	if (isGiven(prompt)) throw new VendorError('invalid', `Prompt with id '${textOf(objectOf(prompt)['id'])}' not found.`, { status: 404 });
	if (background === true && store === false) {
		reject("Background mode requires 'store' to be true.", { param: 'background', code: 'invalid_value' });
	}
}

const numberRules: readonly NumberRule[] = [
	{ field: 'temperature', min: 0, max: 2, kind: 'decimal' },
	{ field: 'top_p', min: 0, max: 1, kind: 'decimal' },
	{ field: 'max_output_tokens', min: 16, max: Number.MAX_SAFE_INTEGER, kind: 'integer' },
	{ field: 'max_tool_calls', min: 1, max: Number.MAX_SAFE_INTEGER, kind: 'integer' },
	{ field: 'top_logprobs', min: 0, max: 20, kind: 'integer' },
];

function checkForModel(body: JsonObject, model: OpenAiModel): void {
	const { effort, summary } = objectOf(body['reasoning']);
	const takesSampling = model.takesSampling || effort === 'none';
	for (const field of takesSampling ? [] : ['temperature', 'top_p']) {
		const value = body[field];
		if (isGiven(value) && value !== 1) reject(`Unsupported parameter: '${field}' is not supported with this model.`, { param: field });
	}
	if (model.takesEffort) return;
	for (const [field, value] of Object.entries({ 'reasoning.effort': effort, 'reasoning.summary': summary })) {
		if (!isGiven(value)) continue;
		reject(`Unsupported parameter: '${field}' is not supported with this model.`, { param: field, code: 'unsupported_parameter' });
	}
}

function checkInclude(include: unknown, model: OpenAiModel): void {
	for (const [index, value] of listOf(include).entries()) {
		if (includable.includes(textOf(value))) continue;
		const listed = includable.map((name) => `'${name}'`);
		reject(`Invalid value: '${String(value)}'. Supported values are: ${listed.slice(0, -1).join(', ')}, and ${listed.at(-1)}.`, {
			param: `include[${index}]`,
			code: 'invalid_value',
		});
	}
	if (!model.takesEffort && listOf(include).includes('reasoning.encrypted_content')) {
		reject('Encrypted content is not supported with this model.', { param: 'include' });
	}
}

function checkTool(tool: JsonObject, path: string): void {
	const type = textOf(tool['type']);
	if (!toolTypes.has(type)) {
		const listed = [...toolTypes].map((name) => `'${name}'`);
		reject(`Invalid value: '${type}'. Supported values are: ${listed.slice(0, -1).join(', ')}, and ${listed.at(-1)}.`, {
			param: `${path}.type`,
			code: 'invalid_value',
		});
	}
	if (type === 'namespace') {
		for (const [index, inner] of listOf(tool['tools']).entries()) checkTool(objectOf(inner), `${path}.tools[${index}]`);
	}
	if (type !== 'function' && type !== 'custom' && type !== 'namespace') return;
	const name = tool['name'];
	const param = `${path}.name`;
	if (typeof name !== 'string') reject(`Missing required parameter: '${param}'.`, { param, code: 'missing_required_parameter' });
	if (!/^[a-zA-Z0-9_-]+$/.test(name)) {
		reject(`Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`, {
			param,
			code: 'invalid_value',
		});
	}
	const open = type === 'function' && tool['strict'] === true ? openObjectPath(tool['parameters'], []) : undefined;
	if (open !== undefined) rejectOpenSchema(`function '${name}'`, open, `${path}.parameters`, 'invalid_function_parameters');
}

function rejectOpenSchema(owner: string, open: readonly string[], param: string, code: string): never {
	const context = open.length === 0 ? '()' : `(${open.map((step) => `'${step}'`).join(', ')})`;
	reject(`Invalid schema for ${owner}: In context=${context}, 'additionalProperties' is required to be supplied and to be false.`, {
		param,
		code,
	});
}

function checkToolChoice(body: JsonObject): void {
	const choice = body['tool_choice'];
	if (!isGiven(choice) || choice === 'auto' || choice === 'none') return;
	const offered = offeredTools(body);
	if (choice === 'required') {
		if (offered.length === 0) reject("Tool choice 'required' must be specified with 'tools' parameter.", { param: 'tool_choice' });
		return;
	}
	if (!isObject(choice)) {
		reject(`Invalid value: '${String(choice)}'. Supported values are: 'none', 'auto', and 'required'.`, {
			param: 'tool_choice',
			code: 'invalid_value',
		});
	}
	const { type, name } = objectOf(choice);
	if ((type === 'function' || type === 'custom') && !offered.some((tool) => tool.name === name)) {
		reject(`Tool choice '${type}' not found in 'tools' parameter.`, { param: 'tool_choice' });
	}
}

function checkFormat(body: JsonObject): void {
	const format = objectOf(body['text'])['format'];
	if (!isGiven(format)) return;
	const { type, name, schema, strict } = objectOf(format);
	if (type === 'json_object') {
		if (/json/i.test(JSON.stringify([body['input'], body['instructions']]))) return;
		reject("Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.", {
			param: 'input',
		});
	}
	if (type === 'text') return;
	if (type !== 'json_schema') {
		reject(`Invalid value: '${textOf(type)}'. Supported values are: 'json_object', 'json_schema', and 'text'.`, {
			param: 'text.format.type',
			code: 'invalid_value',
		});
	}
	for (const [field, value] of Object.entries({ name, schema })) {
		if (isGiven(value)) continue;
		const param = `text.format.${field}`;
		reject(`Missing required parameter: '${param}'.`, { param, code: 'missing_required_parameter' });
	}
	const open = strict === true ? openObjectPath(schema, []) : undefined;
	if (open !== undefined) rejectOpenSchema(`response_format '${textOf(name)}'`, open, 'text.format.schema', 'invalid_json_schema');
}
