import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../../test/support/processes.ts';
import { runCommandLine as run } from '../../../test/support/run-command-line.ts';
import { clientProgramNames, clientPrograms } from './client-programs.ts';

let directory: string;
beforeAll(() => {
	directory = mkdtempSync(join(tmpdir(), 'tollgate-connect-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

describe('tollgate connect', () => {
	it('prints the settings of Claude Code, with the helper of this installation', async () => {
		const { code, out, err } = await run('connect claude-code --gateway https://llm.example.com/ --models claude-sonnet-5');
		expect(code).toBe(0);
		expect(JSON.parse(out)).toEqual({
			env: { ANTHROPIC_BASE_URL: 'https://llm.example.com', CLAUDE_CODE_API_KEY_HELPER_TTL_MS: '3000000' },
			apiKeyHelper: `${packageRoot}/bin/tollgate token`,
			model: 'claude-sonnet-5',
		});
		expect(err).toMatch(/These settings belong in .*\.claude\/settings\.json;.*\nSet GATEWAY_CLIENT_ID, .* that starts Claude Code\.\n$/);
	});

	it('prints the settings of Codex CLI', async () => {
		const { out } = await run('connect codex --gateway https://llm.example.com/llm --models gpt-5-mini,ignored');
		expect(out).toBe(`model_provider = "tollgate"
model = "gpt-5-mini"

[model_providers.tollgate]
name = "Tollgate"
base_url = "https://llm.example.com/llm/v1"
wire_api = "responses"

[model_providers.tollgate.auth]
command = "${packageRoot}/bin/tollgate"
args = ["token"]
refresh_interval_ms = 3000000
`);
	});

	it('prints the settings of opencode, which uses the proxy', async () => {
		const { out, err } = await run('connect opencode --proxy http://127.0.0.1:9000 --models claude-sonnet-5,gpt-5-mini');
		expect(JSON.parse(out)).toMatchObject({
			provider: {
				tollgate: {
					options: { baseURL: 'http://127.0.0.1:9000/v1' },
					models: { 'claude-sonnet-5': { provider: { npm: '@ai-sdk/anthropic' } }, 'gpt-5-mini': {} },
				},
			},
		});
		expect(err).toContain('opencode needs `tollgate proxy` to run.');
	});

	it('writes to a file, keeps other settings, and does nothing the second time', async () => {
		const file = join(directory, 'settings.json');
		writeFileSync(file, '{"apiKeyHelper": "old", "theme": "dark"}');
		const line = `connect claude-code --write --file ${file}`;
		const { code, out } = await run(line);
		expect([code, out]).toEqual([0, `wrote ${file}\nthe earlier file is ${file}.backup\nreplaced: apiKeyHelper\n`]);
		expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ theme: 'dark', apiKeyHelper: `${packageRoot}/bin/tollgate token` });
		expect(await run(line)).toMatchObject({ code: 0, out: `${file} has these settings already\n` });
	});

	it('describes what it did as JSON', async () => {
		const file = join(directory, 'config.toml');
		const { out, err } = await run(`connect codex --write --json --file ${file}`);
		expect([JSON.parse(out), err]).toEqual([
			{
				program: 'codex',
				file,
				settings: readFileSync(file, 'utf8'),
				needs_proxy: false,
				variables: ['GATEWAY_CLIENT_ID', 'GATEWAY_CLIENT_SECRET', 'GATEWAY_TOKEN_ENDPOINT'],
				written: true,
				backup: null,
				replaced: [],
			},
			'',
		]);
		expect(JSON.parse((await run('connect codex --json --file /nonexistent/x')).out)).toMatchObject({ written: false });
	});

	it.each(['connect', 'connect cursor', 'connect codex --gateway llm.example.com', 'connect opencode --proxy 127.0.0.1:8786'])(
		'tollgate %s exits 1',
		async (line) => {
			const { code, out, err } = await run(line);
			expect({ code, out }).toEqual({ code: 1, out: '' });
			expect(err).not.toBe('');
		},
	);

	it('explains why it cannot write', async () => {
		const file = join(directory, 'comments.json');
		writeFileSync(file, '// mine\n{}');
		expect(await run(`connect opencode --write --file ${file}`)).toMatchObject({
			code: 1,
			out: '',
			err: expect.stringContaining(`${file}: the file is not JSON`) as unknown,
		});
		expect(readFileSync(file, 'utf8')).toBe('// mine\n{}');
	});
});

it('settings files follow the variables of each program', () => {
	const env = { CLAUDE_CONFIG_DIR: '/a', CODEX_HOME: '/b', XDG_CONFIG_HOME: '/c' };
	expect(clientProgramNames.map((name) => clientPrograms[name].settingsFile('/home/me', env))).toEqual([
		'/a/settings.json',
		'/b/config.toml',
		'/c/opencode/opencode.json',
	]);
	expect(clientProgramNames.map((name) => clientPrograms[name].settingsFile('/home/me', {}))).toEqual([
		'/home/me/.claude/settings.json',
		'/home/me/.codex/config.toml',
		'/home/me/.config/opencode/opencode.json',
	]);
});

it('a path with blanks is quoted for the shell', () => {
	const { settings } = clientPrograms['claude-code'];
	const input = { gatewayUrl: '', proxyUrl: '', models: [], tokenCommand: ["/my tools/it's", 'token'] as const };
	expect(settings(input)).toMatchObject({ json: { apiKeyHelper: "'/my tools/it'\\''s' token" } });
});
