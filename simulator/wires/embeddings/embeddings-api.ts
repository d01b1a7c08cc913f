/** Embeddings in OpenAI's format. */
import { isGiven, type JsonObject, listOf, numberOf, textOf } from '../../json-value.ts';
import { type EmbeddingInput, embed, textFeatures, tokenFeatures } from '../../plan/embed-text.ts';
import { countTokens } from '../../token-count.ts';
import { articled, reject } from '../openai/reject.ts';
import type { EmbeddingsApi } from '../wire.ts';

export interface EmbeddingModel {
	/** Model name in the response. */
	readonly snapshot: string;
	readonly size: number;
	/** Accepts `dimensions`. */
	readonly isResizable: boolean;
}

const maxInputs = 2048;
const maxInputTokens = 8192;
const maxRequestTokens = 300_000;
const fields = new Set(['model', 'input', 'encoding_format', 'dimensions', 'user']);

/** @param modelOf throws a VendorError for an unknown model. */
export function createEmbeddingsApi(modelOf: (name: string) => EmbeddingModel): EmbeddingsApi {
	return {
		readEmbeddings(body, name) {
			const model = modelOf(name);
			checkOptions(body, model);
			return { ...readInput(body['input']), size: numberOf(body['dimensions']) };
		},
		*renderEmbeddings({ tokens, features, size }, { outline, model: name, omitsUsage }) {
			const model = modelOf(name);
			const isPacked = outline['encoding_format'] === 'base64';
			yield '{"object":"list","data":[';
			for (const [index, feature] of features.entries()) {
				const vector = embed(feature, size ?? model.size);
				const entry = { object: 'embedding', index, embedding: isPacked ? pack(vector) : [...vector] };
				yield (index === 0 ? '' : ',') + JSON.stringify(entry);
			}
			const usage = omitsUsage ? {} : { usage: { prompt_tokens: tokens, total_tokens: tokens } };
			yield `],${JSON.stringify({ model: model.snapshot, ...usage }).slice(1)}`;
		},
	};
}

/** Writes little-endian numbers of 32 bits, whatever the machine's order. */
function pack(vector: Float32Array): string {
	const bytes = Buffer.alloc(vector.length * 4);
	for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
	return bytes.toString('base64');
}

function checkOptions(body: JsonObject, model: EmbeddingModel): void {
	for (const field of Object.keys(body)) {
		if (!fields.has(field)) reject(`Unrecognized request argument supplied: ${field}`);
	}
	const { encoding_format: encoding, dimensions } = body;
	if (isGiven(encoding) && encoding !== 'float' && encoding !== 'base64') {
		reject(`Invalid value: '${textOf(encoding)}'. Supported values are: 'float' and 'base64'.`, {
			param: 'encoding_format',
			code: 'invalid_value',
		});
	}
	if (!isGiven(dimensions)) return;
	if (!model.isResizable) reject('This model does not support specifying dimensions.');
	if (!Number.isInteger(dimensions) || Number(dimensions) < 1) {
		reject(`Invalid value for 'dimensions' = ${String(dimensions)}. Must be a positive integer.`, { param: 'dimensions' });
	}
	if (Number(dimensions) > model.size) {
		reject(`Invalid value for 'dimensions' = ${String(dimensions)}. Must be less than or equal to ${model.size}.`, { param: 'dimensions' });
	}
}

function readInput(input: unknown): Omit<EmbeddingInput, 'size'> {
	if (!isGiven(input)) reject("Missing required parameter: 'input'.", { param: 'input', code: 'missing_required_parameter' });
	if (typeof input !== 'string' && !Array.isArray(input)) {
		reject(`Invalid type for 'input': expected one of a string or an array, but got ${articled(input)} instead.`, {
			param: 'input',
			code: 'invalid_type',
		});
	}
	const entries = typeof input === 'string' || isTokens(input) ? [input] : listOf(input);
	if (entries.length === 0 || entries.length > maxInputs) {
		reject(
			`Invalid 'input': array too ${entries.length === 0 ? 'short' : 'long'}. Expected an array with ${entries.length === 0 ? 'minimum length 1' : `maximum length ${maxInputs}`}, but got an array with length ${entries.length} instead.`,
			{
				param: 'input',
				code: entries.length === 0 ? 'empty_array' : 'array_above_max_length',
			},
		);
	}
	let tokens = 0;
	const features = entries.map((entry, index) => {
		const counted = tokensOfEntry(entry, index);
		if (counted > maxInputTokens) {
			reject(
				`This model's maximum context length is ${maxInputTokens} tokens, however you requested ${counted} tokens (${counted} in your prompt; 0 for the completion). Please reduce your prompt; or completion length.`,
			);
		}
		tokens += counted;
		return isTokens(entry) ? tokenFeatures(entry) : textFeatures(textOf(entry));
	});
	if (tokens > maxRequestTokens) {
		reject(`Requested ${tokens} tokens, max ${maxRequestTokens} tokens per request`, { code: 'max_tokens_per_request' });
	}
	return { tokens, features };
}

function tokensOfEntry(entry: unknown, index: number): number {
	if (isTokens(entry)) return entry.length;
	if (typeof entry === 'string' && entry !== '') return countTokens(entry);
	return reject("'$.input' is invalid. Please check the API reference: https://platform.openai.com/docs/api-reference.", {
		param: entry === '' && index >= 0 ? 'input' : null,
	});
}

function isTokens(entry: unknown): entry is readonly number[] {
	return Array.isArray(entry) && entry.length > 0 && entry.every((token) => Number.isInteger(token));
}
