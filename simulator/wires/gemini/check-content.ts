/** Validates requests by the rules of Gemini's generateContent, with its error messages. Accepts camel case and snake case. */
import { isGiven, isObject, type JsonObject, listOf, objectOf, textOf } from '../../json-value.ts';
import { VendorError } from '../../vendor-error.ts';
import type { GeminiModel } from './gemini-models.ts';

const fields = new Set([
	'contents',
	'systemInstruction',
	'tools',
	'toolConfig',
	'safetySettings',
	'generationConfig',
	'cachedContent',
	'model',
	'store',
	'serviceTier',
	'labels',
]);
const configFields = new Set(
	`temperature topP topK maxOutputTokens stopSequences candidateCount seed presencePenalty frequencyPenalty responseMimeType responseSchema
	responseJsonSchema thinkingConfig responseLogprobs logprobs responseModalities speechConfig mediaResolution imageConfig enableEnhancedCivicAnswers`.split(
		/\s+/,
	),
);
const schemaFields = new Set(
	`type format title description nullable enum maxItems minItems properties required minProperties maxProperties minLength maxLength pattern
	example anyOf propertyOrdering default items minimum maximum`.split(/\s+/),
);

/** @throws VendorError when the vendor would reject the request. */
export function checkContent(body: JsonObject, model: GeminiModel): void {
	checkNames(body, fields, '');
	const config = objectOf(body['generationConfig']);
	checkNames(config, configFields, 'generation_config');
	checkConfig(config);
	const contents = listOf(body['contents']).map(objectOf);
	if (contents.length === 0) reject('* GenerateContentRequest.contents: contents is not specified\n');
	for (const [index, content] of contents.entries()) checkTurn(content, index);
	checkCallPairs(contents, model);
	checkDeclarations(body['tools']);
}

export function reject(message: string): never {
	throw new VendorError('invalid', message);
}

function checkNames(object: JsonObject, known: ReadonlySet<string>, at: string): void {
	for (const name of Object.keys(object)) {
		if (known.has(name)) continue;
		reject(`Invalid JSON payload received. Unknown name "${name}"${at === '' ? '' : ` at '${at}'`}: Cannot find field.`);
	}
}

function checkConfig(config: JsonObject): void {
	const at = '* GenerateContentRequest.generation_config';
	const { temperature, topP, maxOutputTokens, stopSequences, candidateCount, thinkingConfig } = config;
	if (isGiven(temperature) && !(typeof temperature === 'number' && temperature >= 0 && temperature <= 2)) {
		reject(`${at}.temperature: temperature must be in the range [0.0, 2.0].\n`);
	}
	if (isGiven(topP) && !(typeof topP === 'number' && topP >= 0 && topP <= 1)) {
		reject(`${at}.top_p: top_p must be in the range [0.0, 1.0].\n`);
	}
	if (isGiven(maxOutputTokens) && !(Number.isInteger(maxOutputTokens) && Number(maxOutputTokens) > 0)) {
		reject(`${at}.max_output_tokens: max_output_tokens must be positive.\n`);
	}
	if (listOf(stopSequences).length > 5) reject(`${at}.stop_sequences: the number of stop sequences must not exceed 5.\n`);
	if (isGiven(candidateCount) && !(Number(candidateCount) >= 1 && Number(candidateCount) <= 8)) {
		reject(`${at}.candidate_count: candidate_count must be in the range [1, 8].\n`);
	}
	const { thinkingBudget, thinkingLevel } = objectOf(thinkingConfig);
	if (isGiven(thinkingBudget) && isGiven(thinkingLevel)) reject('You can only set only one of thinking budget and thinking level.');
}

function checkTurn(content: JsonObject, index: number): void {
	const { role } = content;
	if (isGiven(role) && role !== 'user' && role !== 'model' && role !== 'function') reject('Please use a valid role: user, model.');
	const parts = listOf(content['parts']).map(objectOf);
	const at = `* GenerateContentRequest.contents[${index}].parts`;
	if (parts.length === 0) reject(`${at}: contents.parts must not be empty.\n`);
	for (const [at2, part] of parts.entries()) {
		const holders = ['text', 'inlineData', 'fileData', 'functionCall', 'functionResponse', 'executableCode', 'codeExecutionResult'].filter(
			(name) => name in part,
		);
		if (holders.length === 0 && !('thoughtSignature' in part)) {
			reject(`${at}[${at2}].data: required oneof field 'data' must have one initialized field\n`);
		}
		if (holders.length > 1) reject(`Invalid value at 'contents[${index}].parts[${at2}]' (oneof), oneof field 'data' is already set.`);
		const response = part['functionResponse'];
		if (response !== undefined && textOf(objectOf(response)['name']) === '') {
			reject(`${at}[${at2}].function_response.name: Name cannot be empty.\n`);
		}
		if (response !== undefined && !isObject(objectOf(response)['response'])) {
			reject(`Invalid value at 'contents[${index}].parts[${at2}].function_response.response' (type.googleapis.com/google.protobuf.Struct)`);
		}
	}
}

function checkCallPairs(contents: readonly JsonObject[], model: GeminiModel): void {
	for (const [index, content] of contents.entries()) {
		const calls = partsWith(content, 'functionCall');
		if (calls.length === 0) continue;
		const responses = partsWith(contents[index + 1], 'functionResponse');
		if (responses.length !== calls.length) {
			reject(
				'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
			);
		}
		if (model.needsSignatures && textOf(calls[0]?.['thoughtSignature']) === '') {
			const name = textOf(objectOf(calls[0]?.['functionCall'])['name']);
			reject(
				`Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${name}\`, position ${index + 1}.`,
			);
		}
	}
	if (contents.length > 0 && partsWith(contents[0], 'functionResponse').length > 0) {
		reject('Please ensure that function response turn comes immediately after a function call turn.');
	}
}

function partsWith(content: JsonObject | undefined, name: string): JsonObject[] {
	return listOf(content?.['parts'])
		.map(objectOf)
		.filter((part) => name in part);
}

function checkDeclarations(tools: unknown): void {
	for (const [index, tool] of listOf(tools).entries()) {
		for (const [at, declaration] of listOf(objectOf(tool)['functionDeclarations']).entries()) {
			const { name, parameters } = objectOf(declaration);
			const path = `tools[${index}].function_declarations[${at}]`;
			if (!/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/.test(textOf(name))) {
				reject(`* GenerateContentRequest.${path}.name: Invalid function name. Must start with a letter or an underscore.\n`);
			}
			checkSchema(parameters, `${path}.parameters`);
		}
	}
}

/** Checks a schema: `parameters` takes only the vendor's subset of JSON schema, `parametersJsonSchema` takes all. */
function checkSchema(schema: unknown, path: string): void {
	if (!isObject(schema)) return;
	checkNames(schema, schemaFields, path);
	for (const [name, property] of Object.entries(objectOf(schema['properties']))) checkSchema(property, `${path}.properties['${name}']`);
	checkSchema(schema['items'], `${path}.items`);
}
