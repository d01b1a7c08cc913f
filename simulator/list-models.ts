import type { JsonObject } from './json-value.ts';
import { VendorError } from './vendor-error.ts';
import type { WireName } from './wires/wire.ts';

const openAiModels = [
	'gpt-4o',
	'gpt-4o-mini',
	'gpt-4.1',
	'gpt-4.1-mini',
	'gpt-5',
	'gpt-5-mini',
	'gpt-5.4-mini',
	'gpt-5.6',
	'o3',
	'gpt-5.1-codex-max',
	'gpt-3.5-turbo-instruct',
	'text-embedding-3-small',
	'text-embedding-3-large',
	'sim-text',
];
const anthropicModels = ['claude-opus-5', 'claude-opus-4-8', 'claude-sonnet-5', 'claude-sonnet-4-6', 'claude-haiku-4-5', 'claude-sim-text'];
const geminiModels = ['gemini-3-pro-preview', 'gemini-2.5-pro', 'gemini-2.5-flash', 'gemini-2.5-flash-lite', 'gemini-sim-text'];
const geminiEmbeddingModels = ['gemini-embedding-001', 'gemini-embedding-2'];

/** Lists some models in the vendor's format. The simulator knows more, see the models of each wire dialect. */
export function listModels(wire: WireName): JsonObject {
	const models = describeModels(wire);
	switch (wire) {
		case 'anthropic':
			return { data: models, has_more: false, first_id: anthropicModels[0], last_id: anthropicModels.at(-1) };
		case 'gemini':
			return { models };
		default:
			return { object: 'list', data: models };
	}
}

/** @throws VendorError for a model that is not on the list. */
export function describeModel(wire: WireName, id: string): JsonObject {
	const name = wire === 'gemini' || (wire === 'gemini-openai' && !id.startsWith('models/')) ? `models/${id}` : id;
	const found = describeModels(wire).find((model) => (model['id'] ?? model['name']) === name);
	if (found === undefined) throw new VendorError('model-unknown', id);
	return found;
}

function describeModels(wire: WireName): JsonObject[] {
	switch (wire) {
		case 'anthropic':
			return anthropicModels.map((id) => ({ type: 'model', id, display_name: id, created_at: '2026-01-15T00:00:00Z' }));
		case 'gemini':
			return [...geminiModels, ...geminiEmbeddingModels].map((id) => ({
				name: `models/${id}`,
				displayName: id,
				inputTokenLimit: 1_048_576,
				outputTokenLimit: 65_536,
				supportedGenerationMethods: geminiModels.includes(id) ? ['generateContent', 'countTokens'] : ['embedContent', 'countTextTokens'],
			}));
		default: {
			const ids = wire === 'gemini-openai' ? geminiModels.map((id) => `models/${id}`) : openAiModels;
			return ids.map((id) => ({ id, object: 'model', created: 1_767_225_600, owned_by: 'simulator' }));
		}
	}
}
