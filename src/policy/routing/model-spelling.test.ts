import { expect, it } from 'vitest';
import { compileSpellings } from './model-spelling.ts';

const spellings = compileSpellings([
	{ name: 'google', kind: 'gemini' },
	{ name: 'azure', kind: 'azure-openai', models: ['Team-Deployment', 'other', 'OTHER'] },
	{ name: 'vendor', kind: 'openai' },
	{ name: 'own', kind: 'openai-compatible', models: ['Qwen'] },
]);

it.each([
	['google', 'models/gemini-2.5-flash', 'gemini-2.5-flash'],
	['google', 'models/models/gemini-2.5-flash', 'gemini-2.5-flash'],
	['google', 'Gemini-2.5-flash', 'Gemini-2.5-flash'],
	['google', 'tunedModels/x', 'tunedModels/x'],
	['google', 'models/', 'models/'],
	['azure', 'team-DEPLOYMENT', 'Team-Deployment'],
	['azure', 'other', 'other'],
	['azure', 'OTHER', 'OTHER'],
	['azure', 'Unnamed', 'unnamed'],
	['vendor', 'models/GPT', 'models/GPT'],
	['own', 'qwen', 'qwen'],
])('%s spells %s as %s, and leaves it so', (provider, model, expected) => {
	const respell = spellings.get(provider);
	expect(respell?.(model)).toBe(expected);
	expect(respell?.(expected)).toBe(expected);
});
