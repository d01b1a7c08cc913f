import { geminiEmbeddingsUsage } from '../../usage/usage-reader.ts';
import type { Dialect } from '../dialect.ts';
import { embeddings } from '../embeddings/embeddings.ts';
import { adaptEmbeddings } from './request-variant.ts';
import { translatedEmbeddings } from './response-translation.ts';

/** Gemini's own embeddings. */
export const geminiEmbeddings: Dialect = {
	...embeddings,
	name: 'gemini-embeddings',
	usage: geminiEmbeddingsUsage,
	variant: { of: 'embeddings', adapt: adaptEmbeddings, responses: translatedEmbeddings },
};
