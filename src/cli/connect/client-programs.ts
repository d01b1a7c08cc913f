import { join } from 'node:path';
import type { JsonObject } from './json-settings.ts';
import type { TomlSettings } from './toml-settings.ts';

export const clientProgramNames = ['claude-code', 'codex', 'opencode'] as const;
export type ClientProgramName = (typeof clientProgramNames)[number];

export interface ConnectInput {
	/** URL of the gateway, without trailing slash. */
	readonly gatewayUrl: string;
	/** URL of `tollgate proxy`, without trailing slash. */
	readonly proxyUrl: string;
	/** Program and arguments that print an access token. */
	readonly tokenCommand: readonly [program: string, ...args: string[]];
	readonly models: readonly string[];
}

export type ProgramSettings = { readonly json: JsonObject } | { readonly toml: TomlSettings };

export interface ClientProgram {
	readonly title: string;
	/** True if the program cannot run a token command and needs `tollgate proxy`. */
	readonly needsProxy: boolean;
	/** Settings file of the user. */
	settingsFile(home: string, env: Readonly<Record<string, string | undefined>>): string;
	settings(input: ConnectInput): ProgramSettings;
}

/** Spec: Token caching guidance. The programs also ask again after a 401. */
const refreshAfterMs = 3_000_000;

/** Models for a program that demands a list. */
const defaultModels = ['gpt-5-mini', 'claude-sonnet-5', 'gemini-2.5-flash'];

export const clientPrograms: Readonly<Record<ClientProgramName, ClientProgram>> = {
	'claude-code': {
		title: 'Claude Code',
		needsProxy: false,
		settingsFile: (home, env) => join(env['CLAUDE_CONFIG_DIR'] || join(home, '.claude'), 'settings.json'),
		settings: ({ gatewayUrl, tokenCommand, models: [model] }) => ({
			json: {
				env: { ANTHROPIC_BASE_URL: gatewayUrl, CLAUDE_CODE_API_KEY_HELPER_TTL_MS: String(refreshAfterMs) },
				apiKeyHelper: tokenCommand.map(quoteForShell).join(' '),
				...(model !== undefined && { model }),
			},
		}),
	},
	codex: {
		title: 'Codex CLI',
		needsProxy: false,
		settingsFile: (home, env) => join(env['CODEX_HOME'] || join(home, '.codex'), 'config.toml'),
		settings: ({ gatewayUrl, tokenCommand: [command, ...args], models: [model] }) => ({
			toml: {
				keys: { model_provider: 'tollgate', ...(model !== undefined && { model }) },
				tables: [
					{
						path: ['model_providers', 'tollgate'],
						keys: { name: 'Tollgate', base_url: `${gatewayUrl}/v1`, wire_api: 'responses' },
					},
					{ path: ['model_providers', 'tollgate', 'auth'], keys: { command, args, refresh_interval_ms: refreshAfterMs } },
				],
			},
		}),
	},
	opencode: {
		title: 'opencode',
		needsProxy: true,
		settingsFile: (home, env) => join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'opencode', 'opencode.json'),
		settings: ({ proxyUrl, models }) => ({
			json: {
				$schema: 'https://opencode.ai/config.json',
				provider: {
					tollgate: {
						npm: '@ai-sdk/openai-compatible',
						name: 'Tollgate',
						options: { baseURL: `${proxyUrl}/v1`, apiKey: 'set-by-tollgate-proxy' },
						models: Object.fromEntries((models.length > 0 ? models : defaultModels).map((model) => [model, opencodeModel(model)])),
					},
				},
			},
		}),
	},
};

/** Claude models use Anthropic's format, which keeps signed reasoning between turns. */
function opencodeModel(model: string): JsonObject {
	return /(?:^|\/)claude-/.test(model) ? { provider: { npm: '@ai-sdk/anthropic' } } : {};
}

function quoteForShell(word: string): string {
	return /^[\w./:=@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
