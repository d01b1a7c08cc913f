/** Rows of the matrix: client programs, their dialects and their features. */
import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { runClaudeCode, runCodex, runLlm, runOpencode } from './coding-agents.ts';
import type { FeatureName, FeatureResults } from './features.ts';
import { type InstallName, installFolder } from './installs.ts';
import { type ClientContext, runToEnd } from './run-to-end.ts';

export interface ClientRun {
	readonly name: string;
	readonly install: InstallName;
	/** Endpoint of the gateway without which the program cannot work. */
	readonly endpoint: string;
	features(model: string): readonly FeatureName[];
	run(context: ClientContext, model: string, features: readonly FeatureName[]): Promise<FeatureResults>;
}

type Dialect = 'chat' | 'messages' | 'responses';

const endpoints = { chat: '/v1/chat/completions', messages: '/v1/messages', responses: '/v1/responses' } as const;

const conversation = ['text', 'stream', 'tools', 'multi-turn'] as const;

/** Providers take reasoning back only in these dialects: OpenAI's models in the Responses API, and Claude and Gemini in all but chat. */
function keepsReasoning(dialect: Dialect, model: string): boolean {
	return dialect === 'responses' || (dialect === 'messages' && !model.startsWith('gpt-'));
}

/**
 * A program of `scripts/`, which prints a line for each feature.
 * @param others features that do not depend on the model; they run once.
 */
function script(file: string, dialect: Dialect, others: readonly FeatureName[] = []): ClientRun {
	const isPython = file.endsWith('.py');
	const name = `${file.replace(/(_client)?\.\w+$/, '').replaceAll('_', '-')} ${isPython ? 'Python' : 'TypeScript'}, ${dialect}`;
	return {
		name,
		install: isPython ? 'python' : 'typescript',
		endpoint: endpoints[dialect],
		features: (model) => [
			...conversation,
			...(keepsReasoning(dialect, model) ? (['reasoning kept'] as const) : []),
			...(model.startsWith('gpt-') ? others : []),
		],
		run: async (context, model, features) => {
			const folder = installFolder(isPython ? 'python' : 'typescript');
			const program = isPython ? join(folder, 'bin/python') : process.execPath;
			const args = [join(copyScripts(folder), file), dialect, model, features.join(',')];
			const { stdout, stderr, code } = await runToEnd(program, args, context);
			const lines = stdout.split('\n').filter((line) => line.startsWith('RESULT '));
			const results = lines.map((line) => JSON.parse(line.slice('RESULT '.length)) as { feature: FeatureName; reason: string | null });
			const reported = Object.fromEntries(results.map(({ feature, reason }) => [feature, reason]));
			const missing = `exit code ${code}: ${stderr.trim().slice(-400)}`;
			return Object.fromEntries(features.map((feature) => [feature, reported[feature] === undefined ? missing : reported[feature]]));
		},
	};
}

/** Copies the programs next to the packages that they import. */
function copyScripts(folder: string): string {
	const from = join(import.meta.dirname, 'scripts');
	const to = join(folder, 'scripts');
	mkdirSync(to, { recursive: true });
	for (const file of readdirSync(from)) if (/\.(?:mjs|py)$/.test(file)) copyFileSync(join(from, file), join(to, file));
	return to;
}

function agent(name: InstallName | 'llm', dialect: Dialect, features: readonly FeatureName[], run: ClientRun['run']): ClientRun {
	return {
		name,
		install: name === 'llm' ? 'python' : name,
		endpoint: endpoints[dialect],
		features: (model) => features.filter((feature) => feature !== 'reasoning kept' || keepsReasoning(dialect, model)),
		run,
	};
}

export const clientRuns: readonly ClientRun[] = [
	agent('claude-code', 'messages', [...conversation, 'reasoning kept'], runClaudeCode),
	agent('codex', 'responses', [...conversation, 'reasoning kept'], runCodex),
	agent('opencode', 'chat', conversation, runOpencode),
	agent('llm', 'chat', conversation, runLlm),
	script('openai-sdk.mjs', 'chat', ['embeddings']),
	script('openai-sdk.mjs', 'responses'),
	script('openai_sdk.py', 'chat', ['embeddings']),
	script('openai_sdk.py', 'responses'),
	script('anthropic-sdk.mjs', 'messages'),
	script('anthropic_sdk.py', 'messages'),
	script('ai-sdk.mjs', 'chat', ['embeddings']),
	script('ai-sdk.mjs', 'messages'),
	script('ai-sdk.mjs', 'responses', ['references rejected']),
	script('langchain.mjs', 'chat', ['embeddings']),
	script('langchain.mjs', 'messages'),
	script('langchain.mjs', 'responses'),
	script('langchain_client.py', 'chat', ['embeddings']),
	script('langchain_client.py', 'messages'),
	script('langchain_client.py', 'responses'),
	script('openai-agents.mjs', 'chat'),
	script('openai-agents.mjs', 'responses'),
	script('openai_agents.py', 'chat'),
	script('openai_agents.py', 'responses'),
	script('pydantic_ai_client.py', 'chat'),
	script('pydantic_ai_client.py', 'messages'),
	script('pydantic_ai_client.py', 'responses'),
	script('litellm_client.py', 'chat', ['embeddings']),
	script('litellm_client.py', 'messages'),
	script('litellm_client.py', 'responses'),
];
