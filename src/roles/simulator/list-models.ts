import type { JsonObject } from './json-value.ts';
import type { WireName } from './wires/wire.ts';

const openAiModels = ['gpt-4o', 'gpt-4o-mini', 'gpt-4.1', 'gpt-4.1-mini', 'gpt-5', 'gpt-5-mini', 'gpt-5.6', 'o3', 'sim-text'];
const anthropicModels = ['claude-opus-5', 'claude-opus-4-8', 'claude-sonnet-5', 'claude-sonnet-4-5', 'claude-haiku-4-5', 'claude-sim-text'];
const geminiModels = ['gemini-3-pro-preview', 'gemini-2.5-pro', 'gemini-2.5-flash', 'gemini-2.5-flash-lite', 'gemini-sim-text'];

/** A short list in the vendor's form; what is known is more, see each wire's models. */
export function listModels(wire: WireName): JsonObject {
	switch (wire) {
		case 'anthropic': {
			const data = anthropicModels.map((id) => ({ type: 'model', id, display_name: id, created_at: '2026-01-15T00:00:00Z' }));
			return { data, has_more: false, first_id: anthropicModels[0], last_id: anthropicModels.at(-1) };
		}
		case 'gemini':
			return {
				models: geminiModels.map((id) => ({
					name: `models/${id}`,
					displayName: id,
					inputTokenLimit: 1_048_576,
					outputTokenLimit: 65_536,
					supportedGenerationMethods: ['generateContent', 'countTokens'],
				})),
			};
		default: {
			const ids = wire === 'gemini-openai' ? geminiModels.map((id) => `models/${id}`) : openAiModels;
			return { object: 'list', data: ids.map((id) => ({ id, object: 'model', created: 1_767_225_600, owned_by: 'simulator' })) };
		}
	}
}
