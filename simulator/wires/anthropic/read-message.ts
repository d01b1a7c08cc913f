/** Converts a checked messages request to a prompt. */
import { isObject, type JsonObject, listOf, numberOf, objectOf, textOf } from '../../json-value.ts';
import { embeddedSchema } from '../../plan/embedded-schema.ts';
import { type Prompt, type PromptSegment, questionOf, type ToolChoice } from '../../plan/prompt.ts';
import { countTokens, tokensPerAttachment, tokensPerMessage } from '../../token-count.ts';
import type { AnthropicModel } from './anthropic-models.ts';

export interface ThinkingOptions {
	readonly isOn: boolean;
	/** Returns only the signature of the reasoning. */
	readonly isHidden: boolean;
}

export function readMessagePrompt(body: JsonObject, model: string, thinking: ThinkingOptions): Prompt {
	const messages = listOf(body['messages']).map(objectOf);
	const lastUser = messages.findLast((message) => message['role'] === 'user');
	const newest = messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1);
	const results = newest.flatMap(({ content }) => blocksOf(content)).filter((block) => block['type'] === 'tool_result');
	const choice = objectOf(body['tool_choice']);
	const tools = listOf(body['tools'])
		.map(objectOf)
		.filter((tool) => isObject(tool['input_schema']));
	return {
		model,
		segments: readSegments(body, messages),
		question: questionOf(blocksOf(lastUser?.['content']).map((block) => textOf(block['text']))),
		toolResults: results.map((block) => textOfBlocks(block['content'])),
		tools: tools.map((tool) => ({ name: textOf(tool['name']), schema: objectOf(tool['input_schema']), isFreeText: false })),
		toolChoice: tools.length === 0 ? 'none' : readToolChoice(choice),
		canCallSeveral: choice['disable_parallel_tool_use'] !== true,
		speaksBeforeCalls: choice['type'] !== 'any' && choice['type'] !== 'tool',
		outputSchema: readSchema(body, tools.length > 0, [textOfBlocks(body['system'] ?? []), textOfBlocks(lastUser?.['content'])]),
		maxOutputTokens: numberOf(body['max_tokens']),
		stopSequences: listOf(body['stop_sequences']).map(textOf),
		choices: 1,
		thinkingTokens: thinking.isOn ? thinkingTokensOf(body) : 0,
	};
}

export function readThinking(body: JsonObject, model: AnthropicModel): ThinkingOptions {
	const { type, display } = objectOf(body['thinking']);
	return {
		isOn: type === 'enabled' || type === 'adaptive' || type === 'between_tools',
		isHidden: display === undefined ? model.hidesThinking : display === 'omitted',
	};
}

export function blocksOf(content: unknown): readonly JsonObject[] {
	return typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content).map(objectOf);
}

function textOfBlocks(content: unknown): string {
	return blocksOf(content)
		.map((block) => textOf(block['text']))
		.join('');
}

const effortTokens: Readonly<Record<string, number>> = { low: 16, medium: 32, high: 64, xhigh: 96, max: 128 };

function thinkingTokensOf(body: JsonObject): number {
	return effortTokens[textOf(objectOf(body['output_config'])['effort'])] ?? 32;
}

function readToolChoice(choice: JsonObject): ToolChoice {
	if (choice['type'] === 'none') return 'none';
	if (choice['type'] === 'any') return 'required';
	return choice['type'] === 'tool' ? { name: textOf(choice['name']) } : 'auto';
}

function readSchema(body: JsonObject, hasTools: boolean, texts: readonly string[]): JsonObject | undefined {
	const format = objectOf(objectOf(body['output_config'])['format'] ?? body['output_format']);
	if (format['type'] === 'json_schema') return objectOf(format['schema']);
	return hasTools ? undefined : embeddedSchema(texts, false);
}

function readSegments(body: JsonObject, messages: readonly JsonObject[]): PromptSegment[] {
	const segments: PromptSegment[] = listOf(body['tools']).map((tool) =>
		segmentOf(JSON.stringify(withoutMark(objectOf(tool))), 0, objectOf(tool)),
	);
	for (const block of blocksOf(body['system'] ?? [])) segments.push(segmentOf(textOf(block['text']), 0, block));
	for (const message of messages) {
		for (const [index, block] of blocksOf(message['content']).entries()) {
			segments.push(segmentOf(blockText(message, block), index === 0 ? tokensPerMessage : 0, block));
		}
	}
	const last = segments.at(-1);
	if (last !== undefined && isObject(body['cache_control'])) {
		segments[segments.length - 1] = { ...last, cacheSeconds: secondsOf(body['cache_control']) };
	}
	return segments;
}

function blockText(message: JsonObject, block: JsonObject): string {
	if (block['type'] === 'text') return textOf(block['text']);
	return `${textOf(message['role'])} ${JSON.stringify(withoutMark(block))}`;
}

function segmentOf(text: string, extraTokens: number, marked: JsonObject): PromptSegment {
	const isAttachment = marked['type'] === 'image' || marked['type'] === 'document';
	const tokens = extraTokens + (isAttachment ? tokensPerAttachment : countTokens(text));
	const mark = marked['cache_control'];
	return isObject(mark) ? { text, tokens, cacheSeconds: secondsOf(mark) } : { text, tokens };
}

function secondsOf(mark: JsonObject): number {
	return mark['ttl'] === '1h' ? 3600 : 300;
}

function withoutMark({ cache_control: _mark, ...rest }: JsonObject): JsonObject {
	return rest;
}
