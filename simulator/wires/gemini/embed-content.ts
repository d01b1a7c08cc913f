/** Gemini's embeddings, of one content or of several. */

import { splitModelName } from '../../faults/fault-names.ts';
import { isGiven, isObject, type JsonObject, listOf, numberOf, objectOf, textOf } from '../../json-value.ts';
import { embed, embedTruncated, textFeatures } from '../../plan/embed-text.ts';
import { countTokens } from '../../token-count.ts';
import { VendorError } from '../../vendor-error.ts';
import type { EmbeddingsApi } from '../wire.ts';
import { camelCaseKeys } from './camel-case.ts';
import { reject } from './check-content.ts';

const fullSize = 3072;
const maxRequests = 100;
const fields = new Set(['model', 'content', 'taskType', 'title', 'outputDimensionality', 'embedContentConfig']);

export function isGeminiEmbeddingModel(model: string): boolean {
	const { base, faults } = splitModelName(model);
	return /^gemini-embedding-(?:001|2(?:-preview)?|exp-\d\d-\d\d)$/.test(base) || (base === '' && faults !== undefined);
}

/** Newer models report usage and shorten vectors to unit length; `gemini-embedding-001` does neither. */
export function isFirstEmbeddingModel(model: string): boolean {
	return splitModelName(model).base === 'gemini-embedding-001';
}

export const geminiEmbeddings: EmbeddingsApi = {
	readEmbeddings(received, model, target) {
		if (!isGeminiEmbeddingModel(model)) throw new VendorError('model-unknown', model);
		const body = camelCaseKeys(received);
		const isBatch = target.action === 'batch-embeddings';
		const requests = isBatch ? listOf(body['requests']).map(objectOf) : [body];
		if (requests.length === 0) reject('* BatchEmbedContentsRequest.requests: requests is not specified\n');
		if (requests.length > maxRequests) {
			reject(`* BatchEmbedContentsRequest.requests: at most ${maxRequests} requests can be in one batch\n`);
		}
		for (const [index, request] of requests.entries()) {
			checkRequest(request, isBatch ? `BatchEmbedContentsRequest.requests[${index}]` : 'EmbedContentRequest', isBatch ? model : undefined);
		}
		const texts = requests.map((request) => textOfContent(request['content']));
		return {
			tokens: texts.reduce((sum, text) => sum + countTokens(text), 0),
			features: texts.map(textFeatures),
			size: numberOf(requests[0]?.['outputDimensionality']),
		};
	},
	*renderEmbeddings({ features, tokens, size = fullSize }, { model, target, omitsUsage }) {
		const isFirst = isFirstEmbeddingModel(model);
		const isBatch = target.action === 'batch-embeddings';
		yield isBatch ? '{"embeddings":[' : '{"embedding":';
		for (const [index, feature] of features.entries()) {
			const values = isFirst ? embedTruncated(feature, size, fullSize) : embed(feature, size);
			yield (index === 0 ? '' : ',') + JSON.stringify({ values: [...values] });
		}
		const usage = isFirst || omitsUsage ? '' : `,"usageMetadata":${JSON.stringify({ promptTokenCount: tokens })}`;
		yield `${isBatch ? ']' : ''}${usage}}`;
	},
};

function checkRequest(request: JsonObject, at: string, model: string | undefined): void {
	for (const name of Object.keys(request)) {
		if (!fields.has(name)) reject(`Invalid JSON payload received. Unknown name "${name}": Cannot find field.`);
	}
	if (model !== undefined && request['model'] !== `models/${model}`) {
		reject(`* ${at}.model: model must match the one in the path: models/${model}\n`);
	}
	const { content, outputDimensionality: size } = request;
	if (!isObject(content) || listOf(content['parts']).length === 0) reject(`* ${at}.content: content is not specified\n`);
	if (textOfContent(content) === '') reject(`* ${at}.content: contents must not be empty\n`);
	if (isGiven(size) && !(Number.isInteger(size) && Number(size) >= 1 && Number(size) <= fullSize)) {
		reject(`* ${at}.output_dimensionality: must be in the range [1, ${fullSize}].\n`);
	}
}

function textOfContent(content: unknown): string {
	return listOf(objectOf(content)['parts'])
		.map((part) => textOf(objectOf(part)['text']))
		.join('');
}
