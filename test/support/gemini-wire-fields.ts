/** Fields of a `generateContent` request that a translation may send, at any depth. Other fields are a leak. */
import { isJsonObject, type JsonObject } from '../../src/wire/json/parse-body.ts';

const requestFields = ['contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig'];
const configFields =
	'maxOutputTokens temperature topP topK seed frequencyPenalty presencePenalty stopSequences candidateCount responseMimeType responseJsonSchema thinkingConfig'.split(
		' ',
	);

/** Fields of a part, which has exactly one of these. */
const partFields: Readonly<Record<string, readonly string[]>> = {
	text: [],
	inlineData: ['mimeType', 'data'],
	fileData: ['fileUri', 'mimeType'],
	functionCall: ['id', 'name', 'args'],
	functionResponse: ['id', 'name', 'response'],
};

/** @returns paths of unknown fields. */
export function unknownGeminiFields(body: JsonObject): string[] {
	const { contents, systemInstruction, tools, toolConfig, generationConfig } = body;
	const config = isJsonObject(generationConfig) ? generationConfig : {};
	return [
		...extra(body, requestFields, ''),
		...listOf(contents).flatMap((content, index) => [
			...extra(content, ['role', 'parts'], `contents[${index}]`),
			...parts(content, `contents[${index}]`),
		]),
		...(systemInstruction === undefined
			? []
			: [...extra(systemInstruction, ['parts'], 'systemInstruction'), ...parts(systemInstruction, 'systemInstruction')]),
		...listOf(tools).flatMap((tool, index) => [
			...extra(tool, ['functionDeclarations'], `tools[${index}]`),
			...listOf(isJsonObject(tool) ? tool.functionDeclarations : undefined).flatMap((one, at) =>
				extra(one, ['name', 'description', 'parametersJsonSchema'], `tools[${index}].functionDeclarations[${at}]`),
			),
		]),
		...(toolConfig === undefined
			? []
			: [
					...extra(toolConfig, ['functionCallingConfig'], 'toolConfig'),
					...extra(isJsonObject(toolConfig) ? toolConfig.functionCallingConfig : undefined, ['mode', 'allowedFunctionNames'], 'toolConfig'),
				]),
		...extra(config, configFields, 'generationConfig'),
		...(config.thinkingConfig === undefined
			? []
			: extra(config.thinkingConfig, ['thinkingBudget', 'thinkingLevel', 'includeThoughts'], 'thinkingConfig')),
	];
}

function parts(content: unknown, path: string): string[] {
	return listOf(isJsonObject(content) ? content.parts : undefined).flatMap((part, index) => {
		const at = `${path}.parts[${index}]`;
		if (!isJsonObject(part)) return [at];
		const names = Object.keys(part).filter((name) => name !== 'thoughtSignature');
		const [name = ''] = names;
		const fields = partFields[name];
		if (names.length !== 1 || fields === undefined) return [at];
		return fields.length === 0 ? [] : extra(part[name], fields, `${at}.${name}`);
	});
}

function extra(value: unknown, known: readonly string[], path: string): string[] {
	if (!isJsonObject(value)) return [path];
	return Object.keys(value).flatMap((name) => (known.includes(name) ? [] : [`${path}.${name}`]));
}

function listOf(value: unknown): readonly unknown[] {
	return Array.isArray(value) ? value : [];
}
