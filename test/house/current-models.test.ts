/** Models named by the demo, the simulator and the guides are still available from their vendors. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProvider } from '@pydantic/genai-prices';
import { describe, expect, test } from 'vitest';
import { listModels } from '../../simulator/list-models.ts';
import { demoModels } from '../../src/config/demo.ts';
import { packageRoot } from '../support/processes.ts';

function sourceOf(packageName: string, path: string): string {
	return readFileSync(join(packageRoot, 'node_modules', packageName, path), 'utf8');
}

/** Reads the table of deprecated models, which Anthropic's SDK does not export. */
function anthropicDeprecations(packageName: string): string[] {
	const [, table = ''] = /const DEPRECATED_MODELS = \{([^}]*)\}/.exec(sourceOf(packageName, 'resources/messages/messages.js')) ?? [];
	return [...table.matchAll(/'([^']+)':/g)].map(([, name = '']) => name);
}

/**
 * Combines the price list, which marks deprecated models, with the SDK's type, which names the available ones: OpenAI's SDK has no table.
 */
function openAiDeprecations(): string[] {
	const { models = [] } = findProvider({ providerId: 'openai' }) ?? {};
	return models.filter(({ deprecated }) => deprecated === true).map(({ id }) => id);
}

const openAiModels = [...(/type ChatModel = ([^;]+);/.exec(sourceOf('openai', 'resources/shared.d.ts'))?.[1] ?? '').matchAll(/'([^']+)'/g)];
const anthropicModels = [
	...(/export type Model = ([^;]+);/.exec(sourceOf('@anthropic-ai/sdk', 'resources/messages/messages.d.ts'))?.[1] ?? '').matchAll(
		/'([^']+)'/g,
	),
];

const deprecated = new Set([...['@anthropic-ai/sdk', '@anthropic-ai/sdk-0'].flatMap(anthropicDeprecations), ...openAiDeprecations()]);

test('the lists were found', () => {
	expect(anthropicDeprecations('@anthropic-ai/sdk')).not.toEqual([]);
	expect(anthropicDeprecations('@anthropic-ai/sdk-0')).not.toEqual([]);
	expect(openAiModels.length).toBeGreaterThan(20);
	expect(anthropicModels.length).toBeGreaterThan(5);
});

test('the demo’s models are in the SDKs’ lists of models, and deprecated in none', () => {
	expect(openAiModels.map(([, name]) => name)).toContain(demoModels.chat);
	expect(anthropicModels.map(([, name]) => name)).toContain(demoModels.messages);
	for (const model of Object.values(demoModels)) expect(deprecated).not.toContain(model);
});

test('the simulator lists no deprecated model', () => {
	for (const wire of ['openai', 'anthropic'] as const) {
		const ids = (listModels(wire)['data'] as { id: string }[]).map(({ id }) => id);
		expect(ids.filter((id) => deprecated.has(id))).toEqual([]);
	}
});

const guides = globSync('docs/{start,guide,concepts,operations}/**/*.md', { cwd: packageRoot }).toSorted();

describe('commands and configurations of the guides name no deprecated model', () => {
	test.each(['README.md', 'tollgate.example.yaml', ...guides])('%s', (path) => {
		const text = readFileSync(join(packageRoot, path), 'utf8');
		const examples = path.endsWith('.md') ? [...text.matchAll(/^```[^]*?^```$/gm)].join('\n') : text;
		const named = examples.match(/[\w.-]+/g) ?? [];
		expect(named.filter((word) => deprecated.has(word))).toEqual([]);
	});
});
