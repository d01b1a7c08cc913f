/** Converts a checked Responses request to a prompt. */
import { isGiven, isObject, type JsonObject, listOf, numberOf, objectOf, textOf } from '../../json-value.ts';
import { anyJson, embeddedSchema } from '../../plan/embedded-schema.ts';
import { type Prompt, type PromptSegment, questionOf, type ToolChoice } from '../../plan/prompt.ts';
import { inputItems } from '../../stored-responses.ts';
import { countTokens, tokensPerAttachment, tokensPerMessage } from '../../token-count.ts';
import type { OpenAiModel } from '../openai/openai-models.ts';
import { thinkingTokensOf } from '../openai/read-chat.ts';
import { typeOfItem } from './check-items.ts';
import { isHostedSearch, offeredTools } from './response-tools.ts';

/** Tokens of encrypted reasoning and of a compacted conversation in the input, whatever their size. */
const tokensPerSealed = 64;

export function readResponsePrompt(body: JsonObject, name: string, model: OpenAiModel): Prompt {
	const items = inputItems(body['input']);
	const results = items.slice(items.findLastIndex((item) => !isOutput(item)) + 1);
	// After a tool search the model calls what it found, and does not search again.
	const hasSearched = results.length > 0 && results.every(({ type }) => type === 'tool_search_output');
	const tools = offeredTools(body).filter(({ origin }) => !(hasSearched && origin?.kind === 'search'));
	const instructions = textOf(body['instructions']);
	const lastUser = items.findLastIndex((item) => item['role'] === 'user');
	const question = textsOf(items[lastUser]?.['content']);
	const systemTexts = items.filter(({ role }) => role === 'system' || role === 'developer').map(({ content }) => textsOf(content).join(''));
	return {
		model: name,
		segments: [
			...(listOf(body['tools']).length === 0 ? [] : [segmentOf(JSON.stringify(body['tools']))]),
			...(instructions === '' ? [] : [segmentOf(instructions)]),
			...items.map(readSegment),
		],
		question: questionOf(question),
		toolResults: hasSearched ? [] : results.map(outputText),
		tools,
		toolChoice: tools.length === 0 ? 'none' : readToolChoice(body['tool_choice']),
		canCallSeveral: body['parallel_tool_calls'] !== false,
		speaksBeforeCalls: model.hasPhases,
		outputSchema: readSchema(
			objectOf(objectOf(body['text'])['format']),
			[instructions, ...systemTexts, question.join('')],
			tools.length > 0,
		),
		maxOutputTokens: numberOf(body['max_output_tokens']),
		stopSequences: [],
		choices: 1,
		thinkingTokens: thinkingTokensOf(objectOf(body['reasoning'])['effort'], model.isReasoning),
		finishedRounds: countRounds(items.slice(lastUser + 1)),
		...(isGiven(body['max_tool_calls']) && { maxHostedCalls: Number(body['max_tool_calls']) }),
		returnedReasoning: items.filter((item) => item['type'] === 'reasoning' && isGiven(item['encrypted_content'])).length,
	};
}

/** Summary of a conversation: the text that a compaction item stands for. */
export function readCompactionPrompt(body: JsonObject, name: string, model: OpenAiModel): Prompt {
	const prompt = readResponsePrompt(body, name, model);
	return { ...prompt, tools: [], toolChoice: 'none', outputSchema: undefined, thinkingTokens: 0, maxOutputTokens: undefined };
}

function textsOf(content: unknown): string[] {
	return typeof content === 'string' ? [content] : listOf(content).map((part) => partText(objectOf(part)));
}

function partText(part: JsonObject): string {
	return textOf(part['text']) || textOf(part['refusal']);
}

function isOutput(item: JsonObject): boolean {
	return textOf(item['type']).endsWith('_output');
}

function outputText(item: JsonObject): string {
	if (item['type'] === 'tool_search_output') return JSON.stringify(listOf(item['tools']).map((tool) => objectOf(tool)['name']));
	const { output } = item;
	return typeof output === 'string' || Array.isArray(output) ? textsOf(output).join('') : JSON.stringify(output ?? '');
}

/** Counts the runs of tool outputs. */
function countRounds(items: readonly JsonObject[]): number {
	return items.filter((item, index) => isOutput(item) && !isOutput(items[index + 1] ?? {})).length;
}

function segmentOf(text: string): PromptSegment {
	return { text, tokens: countTokens(text) };
}

function readSegment(item: JsonObject): PromptSegment {
	const type = typeOfItem(item);
	if (type === 'message') {
		const text = textsOf(item['content']).join('');
		const attachments = countAttachments(item['content']);
		return {
			text: `${textOf(item['role'])}\n${text}`,
			tokens: tokensPerMessage + countTokens(text) + attachments * tokensPerAttachment,
		};
	}
	if (type === 'reasoning' || type === 'compaction') {
		return { text: `${type}\n${textOf(item['encrypted_content'])}`, tokens: tokensPerSealed };
	}
	const { id: _id, status: _status, ...rest } = item;
	const text = JSON.stringify(rest);
	return { text, tokens: countTokens(isOutput(item) ? outputText(item) : text) + countAttachments(item['output']) * tokensPerAttachment };
}

function countAttachments(content: unknown): number {
	return listOf(content).filter((part) => /^input_(?:image|file)$/.test(textOf(objectOf(part)['type']))).length;
}

function readToolChoice(choice: unknown): ToolChoice {
	if (choice === 'none' || choice === 'required') return choice;
	if (!isObject(choice)) return 'auto';
	const { type, name, mode } = choice;
	if (typeof name === 'string') return { name };
	if (isHostedSearch(textOf(type))) return { name: 'web_search' };
	return mode === 'required' ? 'required' : 'auto';
}

function readSchema({ type, schema }: JsonObject, texts: readonly string[], hasTools: boolean): JsonObject | undefined {
	if (type === 'json_schema') return objectOf(schema);
	if (type === 'json_object') return embeddedSchema(texts, true) ?? anyJson;
	return hasTools ? undefined : embeddedSchema(texts, false);
}
