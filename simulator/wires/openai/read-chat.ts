/** Converts a checked chat completions request to a prompt, also for the dialects that copy this format. */
import { isGiven, isObject, type JsonObject, listOf, numberOf, objectOf, textOf } from '../../json-value.ts';
import { anyJson, embeddedSchema } from '../../plan/embedded-schema.ts';
import { type OfferedTool, type Prompt, type PromptSegment, questionOf, type ToolChoice } from '../../plan/prompt.ts';
import { countTokens, tokensPerAttachment, tokensPerMessage } from '../../token-count.ts';

/** Options that determine the format of the response, not its content. */
export interface ChatOptions {
	readonly includesUsage: boolean;
	readonly includesObfuscation: boolean;
	/** Uses the deprecated `functions`: the response has `function_call`. */
	readonly usesFunctions: boolean;
	readonly includesLogprobs: boolean;
	readonly serviceTier: string;
	readonly isModerated: boolean;
}

export function readChatPrompt(body: JsonObject, model: string, isReasoning: boolean): Prompt {
	const messages = listOf(body['messages']).map(objectOf);
	const tools = [
		...listOf(body['tools']).map(readTool),
		...listOf(body['functions']).map((tool) => readTool({ type: 'function', function: tool })),
	];
	const lastUser = messages.findLast((message) => message['role'] === 'user');
	return {
		model,
		segments: [
			...(tools.length === 0 ? [] : [segmentOf(JSON.stringify(body['tools'] ?? body['functions']))]),
			...messages.map(readSegment),
		],
		question: questionOf(textsOf(lastUser?.['content'])),
		toolResults: messages
			.slice(messages.findLastIndex(({ role }) => role !== 'tool' && role !== 'function') + 1)
			.map(({ content }) => contentText(content)),
		tools,
		toolChoice: tools.length === 0 ? 'none' : readToolChoice(body['tool_choice'] ?? body['function_call']),
		canCallSeveral: body['parallel_tool_calls'] !== false && !isGiven(body['functions']),
		speaksBeforeCalls: false,
		outputSchema: readSchema(body['response_format'], [...instructionsOf(messages), contentText(lastUser?.['content'])], tools.length > 0),
		maxOutputTokens: numberOf(body['max_completion_tokens']) ?? numberOf(body['max_tokens']),
		stopSequences: typeof body['stop'] === 'string' ? [body['stop']] : listOf(body['stop']).map(textOf),
		choices: numberOf(body['n']) ?? 1,
		thinkingTokens: thinkingTokensOf(body['reasoning_effort'], isReasoning),
		finishedRounds: countRounds(messages),
	};
}

export function readChatOptions(body: JsonObject): ChatOptions {
	const streamOptions = objectOf(body['stream_options']);
	const tier = textOf(body['service_tier']);
	return {
		includesUsage: streamOptions['include_usage'] === true,
		includesObfuscation: streamOptions['include_obfuscation'] !== false,
		usesFunctions: isGiven(body['functions']),
		includesLogprobs: body['logprobs'] === true,
		serviceTier: tier === '' || tier === 'auto' ? 'default' : tier,
		isModerated: isGiven(body['moderation']),
	};
}

const effortTokens: Readonly<Record<string, number>> = { none: 0, minimal: 8, low: 16, medium: 32, high: 64, xhigh: 96, max: 128 };

export function thinkingTokensOf(effort: unknown, isReasoning: boolean): number {
	return effortTokens[textOf(effort)] ?? (isReasoning ? 32 : 0);
}

/** Counts the assistant messages with tool calls since the last user message. */
function countRounds(messages: readonly JsonObject[]): number {
	const since = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1);
	return since.filter((message) => isGiven(message['tool_calls']) || isGiven(message['function_call'])).length;
}

function segmentOf(text: string): PromptSegment {
	return { text, tokens: countTokens(text) };
}

function readSegment(message: JsonObject): PromptSegment {
	const text = contentText(message['content']);
	const calls = isGiven(message['tool_calls']) ? JSON.stringify(message['tool_calls']) : '';
	const attachments = listOf(message['content']).filter((part) => !['text', 'refusal'].includes(textOf(objectOf(part)['type']))).length;
	return {
		text: `${textOf(message['role'])}\n${text}${calls}`,
		tokens: tokensPerMessage + countTokens(text) + countTokens(calls) + attachments * tokensPerAttachment,
	};
}

export function contentText(content: unknown): string {
	return textsOf(content).join('');
}

function textsOf(content: unknown): string[] {
	return typeof content === 'string' ? [content] : listOf(content).map((part) => textOf(objectOf(part)['text']));
}

function readTool(tool: unknown): OfferedTool {
	const { type, function: described, custom } = objectOf(tool);
	if (type === 'custom') return { name: textOf(objectOf(custom)['name']), schema: {}, isFreeText: true };
	const { name, parameters } = objectOf(described);
	return { name: textOf(name), schema: objectOf(parameters), isFreeText: false };
}

function readToolChoice(choice: unknown): ToolChoice {
	if (choice === 'none' || choice === 'required') return choice;
	if (!isObject(choice)) return 'auto';
	const name = textOf(objectOf(choice['function'] ?? choice['custom'])['name']) || textOf(choice['name']);
	if (name !== '') return { name };
	return objectOf(choice['allowed_tools'])['mode'] === 'required' ? 'required' : 'auto';
}

function instructionsOf(messages: readonly JsonObject[]): string[] {
	return messages.filter(({ role }) => role === 'system' || role === 'developer').map(({ content }) => contentText(content));
}

function readSchema(format: unknown, texts: readonly string[], hasTools: boolean): JsonObject | undefined {
	const { type, json_schema: named } = objectOf(format);
	if (type === 'json_schema') return objectOf(objectOf(named)['schema']);
	if (type === 'json_object') return embeddedSchema(texts, true) ?? anyJson;
	return hasTools ? undefined : embeddedSchema(texts, false);
}
