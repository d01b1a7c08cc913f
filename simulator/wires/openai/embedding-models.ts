import { splitModelName } from '../../faults/fault-names.ts';
import type { EmbeddingModel } from '../embeddings/embeddings-api.ts';

const models: Readonly<Record<string, EmbeddingModel>> = {
	'text-embedding-3-small': { snapshot: 'text-embedding-3-small', size: 1536, isResizable: true },
	'text-embedding-3-large': { snapshot: 'text-embedding-3-large', size: 3072, isResizable: true },
	'text-embedding-ada-002': { snapshot: 'text-embedding-ada-002-v2', size: 1536, isResizable: false },
};

/** @returns undefined for a model that makes no embeddings. A `sim-*` model without a base makes those of `text-embedding-3-small`. */
export function embeddingModel(name: string): EmbeddingModel | undefined {
	const { base, faults } = splitModelName(name);
	const found = models[base] ?? (base === '' ? models['text-embedding-3-small'] : undefined);
	return found === undefined || faults === undefined ? found : { ...found, snapshot: name };
}
