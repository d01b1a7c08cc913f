/** Client programs at fixed versions, each in a folder that later runs use again. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Packages of npm or PyPI, at exact versions. */
const packages = {
	'claude-code': { registry: 'npm', packages: ['@anthropic-ai/claude-code@2.1.332'] },
	codex: { registry: 'npm', packages: ['@openai/codex@0.171.0'] },
	opencode: { registry: 'npm', packages: ['opencode-ai@1.18.33'] },
	typescript: {
		registry: 'npm',
		packages: [
			'@ai-sdk/anthropic@4.0.105',
			'@ai-sdk/openai@4.0.118',
			'@anthropic-ai/sdk@1.14.0',
			'@langchain/anthropic@1.5.11',
			'@langchain/core@1.4.0',
			'@langchain/openai@1.6.0',
			'@openai/agents@0.20.0',
			'ai@7.0.173',
			'langchain@1.5.14',
			'openai@7.57.0',
			'zod@4.6.7',
		],
	},
	python: {
		registry: 'PyPI',
		packages: [
			'anthropic==2.14.0',
			'langchain-anthropic==1.7.10',
			'langchain-openai==1.7.4',
			'langchain==1.5.2',
			'litellm==1.110.2',
			'llm==0.36',
			'openai-agents==0.24.0',
			'openai==3.57.0',
			'pydantic-ai-slim[anthropic,openai]==2.68.0',
		],
	},
} as const;

export type InstallName = keyof typeof packages;

/** Environment of an installation: no settings of the user's npm or pip, except those of the machine's registries. */
const cache = process.env['TOLLGATE_CLIENTS_CACHE'] ?? join(tmpdir(), 'tollgate-clients');

export function installFolder(name: InstallName): string {
	const digest = createHash('sha256').update(JSON.stringify(packages[name])).digest('hex').slice(0, 12);
	return join(cache, `${name}-${digest}`);
}

/** Installs the packages once; a complete folder is used again. */
export async function install(name: InstallName): Promise<void> {
	const folder = installFolder(name);
	if (existsSync(join(folder, 'installed'))) return;
	process.stderr.write(`installing ${packages[name].packages.join(' ')}\n`);
	rmSync(folder, { recursive: true, force: true });
	mkdirSync(folder, { recursive: true });
	if (packages[name].registry === 'npm') {
		writeFileSync(join(folder, 'package.json'), '{"private": true, "type": "module"}\n');
		const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--save-exact'];
		await run('npm', ['install', ...options, ...packages[name].packages], { cwd: folder });
	} else {
		await run('python3', ['-m', 'venv', folder]);
		await run(join(folder, 'bin/pip'), ['install', '--quiet', '--disable-pip-version-check', ...packages[name].packages]);
	}
	// Marks the end, so that an interrupted installation begins again.
	writeFileSync(join(folder, 'installing'), '');
	renameSync(join(folder, 'installing'), join(folder, 'installed'));
}
