import { clientMessage, type ResponseContext, responseInvalid } from '../../conversation/response.ts';
import { errorTranslation, type ResponseTranslation } from '../../conversation/translation.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { geminiEmbeddingsUsage } from '../../usage/usage-reader.ts';
import { writeError } from '../chat/errors.ts';
import { encodeVector, isVector } from '../embeddings/encoding.ts';
import { readError } from '../gemini/errors.ts';
import { countPrompts } from '../prompts.ts';

/** Writes responses of Gemini's own embeddings as OpenAI's. */
export const translatedEmbeddings: ResponseTranslation = {
	translateResponse(body, call) {
		const { request, model } = call;
		const vectors: readonly unknown[] = Array.isArray(body.embeddings) ? body.embeddings : [];
		const count = countPrompts(request.input);
		if (vectors.length !== count) throw responseInvalid(`with ${vectors.length} embeddings for ${count} inputs`);
		const data = vectors.map((vector, index) => ({
			object: 'embedding',
			index,
			embedding: encodeVector(toUnitLength(valuesOf(vector)), request),
		}));
		const prompt_tokens = promptTokens(body, call);
		return { object: 'list', data, model, usage: { prompt_tokens, total_tokens: prompt_tokens } };
	},
	translateError: errorTranslation(readError, writeError),
	translateStream() {
		throw new Error('embeddings have no streams');
	},
};

/** Returns the charged input, which is estimated for the models that report none. */
function promptTokens({ usageMetadata }: JsonObject, call: ResponseContext): number {
	return clientMessage(geminiEmbeddingsUsage.usageOf(usageMetadata), call)?.inputTokens ?? call.estimatedInputTokens ?? 0;
}

function valuesOf(vector: unknown): readonly number[] {
	if (isJsonObject(vector) && isVector(vector.values)) return vector.values;
	throw responseInvalid('with an embedding that has no numbers');
}

/** Larger than the rounding of 32-bit numbers. */
const tolerance = 1e-4;

/** Normalizes a vector, because OpenAI's have unit length and shortened ones of `gemini-embedding-001` have not. */
function toUnitLength(values: readonly number[]): readonly number[] {
	const length = Math.sqrt(values.reduce((sum, value) => sum + value * value, 0));
	if (length === 0 || !Number.isFinite(length) || Math.abs(length - 1) < tolerance) return values;
	return values.map((value) => value / length);
}
