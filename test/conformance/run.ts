/**
 * `npm run conformance -- --base-url URL ...`: runs the conformance tests against a deployment, or against processes of their own without a
 * URL.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const usage = `Tests a deployment over HTTP as its callers see it; without arguments, processes of our own.

  npm run conformance -- --base-url URL --token-endpoint URL --client-id ID --client-secret SECRET [option ...] [file ...]

  --base-url URL              address of the edge or gateway, such as https://llm.example.com
  --token-endpoint URL        where access tokens come from
  --client-id ID              a client with the invoke scope, of a team without narrow limits
  --client-secret SECRET      or the variable CONFORMANCE_CLIENT_SECRET
  --admin-client-id ID        a client that may also ask for the admin scope; the same client unless given
  --admin-client-secret SECRET
  --scope-base TEXT           prefix of the scopes, tollgate unless given
  --chat-model NAME           a model for chat completions, gpt-4o-mini unless given
  --messages-model NAME       a model for messages, claude-haiku-4-5 unless given
  file                        only test files whose path contains this

Tests that need our simulator or a configuration of their own are skipped on a deployment, with the reason in their titles.
The others send about 800 requests, 45 of them to models, for a few cents.
`;

const variables = {
	'base-url': 'CONFORMANCE_BASE_URL',
	'token-endpoint': 'CONFORMANCE_TOKEN_ENDPOINT',
	'client-id': 'CONFORMANCE_CLIENT_ID',
	'client-secret': 'CONFORMANCE_CLIENT_SECRET',
	'admin-client-id': 'CONFORMANCE_ADMIN_CLIENT_ID',
	'admin-client-secret': 'CONFORMANCE_ADMIN_CLIENT_SECRET',
	'scope-base': 'CONFORMANCE_SCOPE_BASE',
	'chat-model': 'CONFORMANCE_CHAT_MODEL',
	'messages-model': 'CONFORMANCE_MESSAGES_MODEL',
} as const;

const required = ['base-url', 'token-endpoint', 'client-id', 'client-secret'] as const;

/** Returns the exit code: 0 if all tests pass, 1 for wrong arguments or failed tests. */
async function run(args: readonly string[]): Promise<number> {
	const environment: NodeJS.ProcessEnv = { ...process.env };
	let files: readonly string[];
	try {
		const { values, positionals } = parseArgs({
			args: [...args],
			allowPositionals: true,
			options: { ...optionTable(), help: { type: 'boolean', short: 'h' } },
		});
		if (values['help'] === true) {
			process.stdout.write(usage);
			return 0;
		}
		for (const [option, variable] of Object.entries(variables)) {
			const value = (values as Record<string, unknown>)[option];
			if (typeof value === 'string') environment[variable] = value;
		}
		files = positionals;
		checkEnvironment(environment);
	} catch (cause) {
		process.stderr.write(`${cause instanceof Error ? cause.message : String(cause)}\n\n${usage}`);
		return 1;
	}
	return runVitest(files, environment);
}

function optionTable(): Record<string, { type: 'string' }> {
	return Object.fromEntries(Object.keys(variables).map((option) => [option, { type: 'string' }]));
}

/** Checks that the variables of a deployment are set completely or not at all. */
function checkEnvironment(environment: NodeJS.ProcessEnv): void {
	const given = Object.entries(variables).filter(([, variable]) => environment[variable] !== undefined);
	if (given.length === 0) return;
	const missing = required.filter((option) => environment[variables[option]] === undefined);
	if (missing.length > 0) throw new Error(`Missing: ${missing.map((option) => `--${option}`).join(', ')}`);
	for (const option of ['base-url', 'token-endpoint'] as const) {
		if (!/^https?:\/\//.test(environment[variables[option]] ?? '')) throw new Error(`--${option} must be an http or https URL`);
	}
}

function runVitest(files: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
	const root = join(import.meta.dirname, '../..');
	const filters =
		files.length === 0 ? ['test/conformance/'] : files.map((file) => join('test/conformance', file.replace(/^test\/conformance\//, '')));
	const args = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--reporter=verbose', ...filters];
	const child = spawn(process.execPath, args, { cwd: root, env: environment, stdio: 'inherit' });
	return new Promise((resolve) => child.once('exit', (code) => resolve(code === 0 ? 0 : 1)));
}

process.exitCode = await run(process.argv.slice(2));
