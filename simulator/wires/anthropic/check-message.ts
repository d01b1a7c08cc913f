/** Validates requests by the rules of Anthropic's messages API, with its error messages. */
import { isGiven, isObject, type JsonObject, listOf, objectOf, textOf } from '../../json-value.ts';
import { openObjectPath } from '../open-object-path.ts';
import type { AnthropicModel } from './anthropic-models.ts';
import { checkTurns } from './check-turns.ts';
import { type MessageCheck, newestVersion, reject } from './message-check.ts';
import { blocksOf } from './read-message.ts';

const fields = new Set(
	`model max_tokens messages system stop_sequences stream temperature top_p top_k tools tool_choice thinking output_config metadata
	service_tier cache_control container inference_geo speed diagnostics`.split(/\s+/),
);
const betaFields = new Set(['context_management', 'mcp_servers', 'fallbacks', 'thread', 'output_format', 'user_profile_id']);

/** @throws VendorError when the vendor would reject the request. */
export function checkMessage(body: JsonObject, check: MessageCheck): void {
	for (const field of Object.keys(body)) {
		const isKnown = fields.has(field) || (check.hasBeta && betaFields.has(field));
		if (!isKnown || (check.isCount && (field === 'max_tokens' || field === 'stream'))) reject(`${field}: Extra inputs are not permitted`);
	}
	if (!check.isCount) checkMaxTokens(body['max_tokens']);
	checkSystem(body['system']);
	checkSampling(body, check);
	checkTools(body);
	checkThinking(body, check.model);
	checkOutputConfig(body, check.model);
	for (const [index, sequence] of listOf(body['stop_sequences']).entries()) {
		if (textOf(sequence).trim() === '') reject(`stop_sequences.${index}: each stop sequence must contain non-whitespace`);
	}
	checkTurns(body, check);
	checkCacheMarks(body);
}

function checkMaxTokens(maxTokens: unknown): void {
	if (!isGiven(maxTokens)) reject('max_tokens: Field required');
	if (!Number.isInteger(maxTokens)) reject('max_tokens: Input should be a valid integer');
	if (Number(maxTokens) < 0) reject('max_tokens: Input should be greater than or equal to 0');
}

function checkSystem(system: unknown): void {
	if (!isGiven(system)) return;
	if (typeof system !== 'string' && !Array.isArray(system)) reject('system: Input should be a valid list');
	for (const block of blocksOf(system)) {
		if (block['type'] !== 'text') reject(`system.0.type: Input should be 'text'`);
		if (textOf(block['text']).trim() === '') reject('system: text content blocks must be non-empty');
	}
}

function checkSampling(body: JsonObject, { model, version }: MessageCheck): void {
	for (const field of ['temperature', 'top_p', 'top_k']) {
		const value = body[field];
		if (!isGiven(value)) continue;
		if (version === newestVersion) reject(`${field}: this parameter is not supported with anthropic-version ${newestVersion}`);
		if (typeof value !== 'number') reject(`${field}: Input should be a valid number`);
		if (field !== 'top_k' && (value < 0 || value > 1)) reject(`${field}: range: 0..1`);
		const isDefault = (field === 'temperature' && value === 1) || (field === 'top_p' && value >= 0.99);
		if (!model.takesSampling && !isDefault) reject(`\`${field}\` is not supported with this model`);
		if (field === 'temperature' && value !== 1 && objectOf(body['thinking'])['type'] === 'enabled') {
			reject('`temperature` may only be set to 1 when thinking is enabled.');
		}
	}
}

function checkTools(body: JsonObject): void {
	const tools = listOf(body['tools']).map(objectOf);
	const names = new Set<string>();
	for (const [index, tool] of tools.entries()) {
		const name = textOf(tool['name']);
		if (isGiven(tool['type']) && tool['type'] !== 'custom') continue;
		if (!isGiven(tool['name'])) reject(`tools.${index}.custom.name: Field required`);
		if (!/^[a-zA-Z0-9_-]{1,128}$/.test(name)) reject(`tools.${index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
		if (names.has(name)) reject('tools: Tool names must be unique.');
		names.add(name);
		if (!isObject(tool['input_schema'])) reject(`tools.${index}.custom.input_schema: Field required`);
		if (objectOf(tool['input_schema'])['type'] !== 'object') reject(`tools.${index}.custom.input_schema.type: Input should be 'object'`);
	}
	const { type, name } = objectOf(body['tool_choice']);
	if (type === undefined) return;
	if (!['auto', 'any', 'tool', 'none'].includes(textOf(type))) {
		reject(
			`tool_choice: Input tag '${textOf(type)}' found using 'type' does not match any of the expected tags: 'auto', 'any', 'tool', 'none'`,
		);
	}
	if (tools.length === 0 && type !== 'none') reject('tool_choice: tool_choice may only be specified while providing tools.');
	if (type === 'tool' && !names.has(textOf(name))) reject(`tool_choice: Tool '${textOf(name)}' not found in provided tools`);
}

function checkThinking(body: JsonObject, model: AnthropicModel): void {
	const { type, budget_tokens: budget } = objectOf(body['thinking']);
	if (!isGiven(body['thinking'])) return;
	if (type === 'enabled') {
		if (!model.takesManualThinking) {
			reject(
				'thinking: manual extended thinking (`type: "enabled"`) is not supported on this model. Use `thinking: {"type": "adaptive"}`.',
			);
		}
		if (!Number.isInteger(budget)) reject('thinking.enabled.budget_tokens: Field required');
		if (Number(budget) < 1024) reject('thinking.enabled.budget_tokens: Input should be greater than or equal to 1024');
		if (isGiven(body['max_tokens']) && Number(budget) >= Number(body['max_tokens'])) {
			reject(
				'`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size',
			);
		}
		const choice = objectOf(body['tool_choice'])['type'];
		if (choice === 'any' || choice === 'tool') reject('Thinking may not be enabled when tool_choice forces tool use.');
	} else if (type === 'adaptive') {
		if (!model.takesAdaptiveThinking) reject('adaptive thinking is not supported on this model');
	} else if (type !== 'disabled' && type !== 'between_tools') {
		reject(
			`thinking: Input tag '${textOf(type)}' found using 'type' does not match any of the expected tags: 'adaptive', 'between_tools', 'disabled', 'enabled'`,
		);
	}
}

function checkOutputConfig(body: JsonObject, model: AnthropicModel): void {
	const { effort, format } = objectOf(body['output_config']);
	if (isGiven(effort) && !model.efforts.includes(textOf(effort))) {
		const listed = model.efforts.map((name) => `'${name}'`).join(', ');
		reject(`output_config.effort: This model does not support effort level '${String(effort)}'. Supported levels: ${listed}`);
	}
	if (!isGiven(format)) return;
	if (objectOf(format)['type'] !== 'json_schema') reject("output_config.format.type: Input should be 'json_schema'");
	if (openObjectPath(objectOf(format)['schema'], []) !== undefined) {
		reject("output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false");
	}
}

function checkCacheMarks(body: JsonObject): void {
	const marked = [
		...listOf(body['tools']).map(objectOf),
		...blocksOf(body['system'] ?? []),
		...listOf(body['messages']).flatMap((message) => blocksOf(objectOf(message)['content'])),
	];
	const count = marked.filter((block) => isGiven(block['cache_control'])).length + (isGiven(body['cache_control']) ? 1 : 0);
	if (count > 4) reject(`A maximum of 4 blocks with cache_control may be provided. Found ${count}.`);
}
