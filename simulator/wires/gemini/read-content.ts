/** Converts a checked generateContent request to a prompt. */
import { isGiven, isObject, type JsonObject, listOf, numberOf, objectOf, textOf } from '../../json-value.ts';
import { anyJson, embeddedSchema } from '../../plan/embedded-schema.ts';
import { type Prompt, type PromptSegment, questionOf, type ToolChoice } from '../../plan/prompt.ts';
import { countTokens, tokensPerAttachment, tokensPerMessage } from '../../token-count.ts';
import type { GeminiModel } from './gemini-models.ts';

export function readContentPrompt(body: JsonObject, model: string, facts: GeminiModel): Prompt {
	const contents = listOf(body['contents']).map(objectOf);
	const config = objectOf(body['generationConfig']);
	const lastUser = contents.findLast((content) => content['role'] !== 'model');
	const newest = contents.slice(contents.findLastIndex(({ role }) => role === 'model') + 1);
	const responses = newest.flatMap(partsOf).filter((part) => isObject(part['functionResponse']));
	const declarations = listOf(body['tools']).flatMap((tool) => listOf(objectOf(tool)['functionDeclarations']).map(objectOf));
	return {
		model,
		segments: [
			...(declarations.length === 0 ? [] : [segmentOf(JSON.stringify(body['tools']), 0, 0)]),
			...(isGiven(body['systemInstruction']) ? [segmentOf(textOfParts(objectOf(body['systemInstruction'])), 0, 0)] : []),
			...contents.map(readSegment),
		],
		question: questionOf(partsOf(lastUser).map((part) => textOf(part['text']))),
		toolResults: responses.map((part) => JSON.stringify(objectOf(part['functionResponse'])['response'])),
		tools: declarations.map((declaration) => ({
			name: textOf(declaration['name']),
			schema: lowerTypes(objectOf(declaration['parametersJsonSchema'] ?? declaration['parameters'])),
			isFreeText: false,
		})),
		toolChoice: declarations.length === 0 ? 'none' : readToolChoice(body),
		canCallSeveral: true,
		speaksBeforeCalls: false,
		outputSchema: readSchema(config, declarations.length > 0, [textOfParts(objectOf(body['systemInstruction'])), textOfParts(lastUser)]),
		maxOutputTokens: numberOf(config['maxOutputTokens']),
		stopSequences: listOf(config['stopSequences']).map(textOf),
		choices: numberOf(config['candidateCount']) ?? 1,
		thinkingTokens: thinkingTokensOf(objectOf(config['thinkingConfig']), facts),
	};
}

export function showsThoughts(body: JsonObject): boolean {
	return objectOf(objectOf(body['generationConfig'])['thinkingConfig'])['includeThoughts'] === true;
}

function partsOf(content: JsonObject | undefined): JsonObject[] {
	return listOf(content?.['parts']).map(objectOf);
}

function textOfParts(content: JsonObject | undefined): string {
	return partsOf(content)
		.map((part) => textOf(part['text']))
		.join('');
}

function segmentOf(text: string, extraTokens: number, attachments: number): PromptSegment {
	return { text, tokens: extraTokens + countTokens(text) + attachments * tokensPerAttachment };
}

function readSegment(content: JsonObject): PromptSegment {
	const parts = partsOf(content);
	const attachments = parts.filter((part) => 'inlineData' in part || 'fileData' in part).length;
	const reported = parts
		.map((part) => textOf(part['text']) || JSON.stringify(part['functionCall'] ?? part['functionResponse'] ?? ''))
		.join('');
	return segmentOf(reported, tokensPerMessage, attachments);
}

const levelTokens: Readonly<Record<string, number>> = { minimal: 8, low: 16, medium: 32, high: 64 };

function thinkingTokensOf({ thinkingBudget, thinkingLevel }: JsonObject, facts: GeminiModel): number {
	if (typeof thinkingLevel === 'string') return levelTokens[thinkingLevel.toLowerCase()] ?? 32;
	if (typeof thinkingBudget === 'number' && thinkingBudget >= 0) return Math.min(thinkingBudget, 64);
	return facts.thinks ? 32 : 0;
}

function readToolChoice(body: JsonObject): ToolChoice {
	const { mode, allowedFunctionNames } = objectOf(objectOf(body['toolConfig'])['functionCallingConfig']);
	if (mode === 'NONE') return 'none';
	if (mode !== 'ANY') return 'auto';
	const [name] = listOf(allowedFunctionNames);
	return typeof name === 'string' ? { name } : 'required';
}

function readSchema(config: JsonObject, hasTools: boolean, texts: readonly string[]): JsonObject | undefined {
	if (config['responseMimeType'] !== 'application/json') return hasTools ? undefined : embeddedSchema(texts, false);
	const schema = config['responseJsonSchema'] ?? config['responseSchema'];
	return isObject(schema) ? lowerTypes(schema) : (embeddedSchema(texts, true) ?? anyJson);
}

const sizes = new Set(['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties']);

/** Lowers the types of a schema, which the vendor writes in capitals. */
function lowerTypes(schema: JsonObject): JsonObject {
	const lower = (node: unknown): unknown => {
		if (Array.isArray(node)) return node.map(lower);
		if (!isObject(node)) return node;
		return Object.fromEntries(
			Object.entries(node).map(([key, value]) => {
				if (key === 'type' && typeof value === 'string') return [key, value.toLowerCase()];
				// Google writes 64-bit integers as strings.
				if (sizes.has(key) && typeof value === 'string' && /^\d{1,9}$/.test(value)) return [key, Number(value)];
				return [key, lower(value)];
			}),
		);
	};
	return objectOf(lower(schema));
}
