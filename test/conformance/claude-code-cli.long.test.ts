/** Claude Code itself, against the product with simulated providers: `CLAUDE_CODE_PATH` names its program. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isOwnProduct, type Subject, useSubject } from './subject.ts';

const program = process.env['CLAUDE_CODE_PATH'];
const reason = program === undefined ? ' (skipped: set CLAUDE_CODE_PATH)' : '';

const targets = [
	['anthropic', 'claude-sonnet-5'],
	['openai', 'claude-gpt'],
	['gemini', 'claude-gemini'],
] as const;

interface RunOptions {
	readonly args?: readonly string[];
	readonly env?: Readonly<Record<string, string>>;
}

interface Session {
	readonly home: string;
	readonly project: string;
	/** Runs one prompt, and returns the output. */
	run(prompt: string, options?: RunOptions): Promise<string>;
	end(): void;
}

/** Creates an empty home and an empty project. The program's environment has only what is named here. */
async function openSession(subject: Subject): Promise<Session> {
	await subject.simulator.change({ record_bodies: true });
	const home = mkdtempSync(join(tmpdir(), 'claude-code-home-'));
	const project = mkdtempSync(join(tmpdir(), 'claude-code-project-'));
	return {
		home,
		project,
		async run(prompt, options = {}) {
			const child = spawn(program ?? '', ['-p', prompt, ...(options.args ?? [])], {
				cwd: project,
				env: {
					PATH: process.env['PATH'],
					HOME: home,
					DISABLE_AUTOUPDATER: '1',
					CLAUDE_CODE_MAX_RETRIES: '2',
					ANTHROPIC_BASE_URL: subject.baseUrl,
					...(options.env ?? { ANTHROPIC_AUTH_TOKEN: await subject.accessToken() }),
				},
				stdio: ['ignore', 'pipe', 'pipe'],
			});
			const [output] = await Promise.all([text(child.stdout), text(child.stderr)]);
			return output;
		},
		end() {
			for (const folder of [home, project]) rmSync(folder, { recursive: true, force: true });
		},
	};
}

async function scriptModel(subject: Subject, dialect: string, response: object): Promise<void> {
	const body = JSON.stringify({ dialect, ...response });
	const received = await fetch(`${subject.product?.simulatorUrl}/_simulator/script`, { method: 'POST', body });
	expect(received.status).toBeLessThan(300);
}

describe.runIf(program !== undefined && isOwnProduct)(`Claude Code itself${reason}`, () => {
	const subject = useSubject({
		routing: { aliases: { 'claude-gpt': 'provider_b/gpt-5', 'claude-gemini': 'provider_c/gemini-3-pro-preview' } },
	});
	let session: Session;
	beforeAll(async () => {
		session = await openSession(subject.current);
	});
	afterAll(() => session.end());

	const run = async (prompt: string, options: RunOptions = {}): Promise<string> => session.run(prompt, options);
	const script = async (dialect: string, response: object): Promise<void> => scriptModel(subject.current, dialect, response);

	it.each(targets)(
		'%s: runs a command in a loop and prints the last text, with model %s',
		async (dialect, model) => {
			for (const turn of [1, 2, 3]) {
				const call = { name: 'Bash', input: { command: `echo result-$((${turn} + 40))`, description: 'Print' } };
				await script(dialect, { thinking: 'I should run it.', text: 'Running.', calls: [call] });
			}
			await script(dialect, { text: 'All done.' });
			expect(await run('Run it three times', { args: ['--model', model, '--allowedTools', 'Bash'] })).toContain('All done.');
			const { body } = await subject.current.simulator.newestRequest();
			for (const result of ['result-41', 'result-42', 'result-43']) expect(body).toContain(result);
		},
		60_000,
	);

	it('sends its betas and its body to Anthropic through the gateway', async () => {
		await script('anthropic', { text: 'Hello there.' });
		expect(await run('Say hello', { args: ['--model', 'claude-sonnet-5'] })).toContain('Hello there.');
		const { headers, query, body } = await subject.current.simulator.newestRequest();
		expect([headers['anthropic-version'], query]).toEqual(['2023-06-01', 'beta=true']);
		expect(headers['anthropic-beta']).toMatch(/claude-code-\d+/);
		expect(body).toContain('cache_control');
	});

	it('discovers the models that the client may use, aliases included', async () => {
		const env = { ANTHROPIC_API_KEY: await subject.current.accessToken(), CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1' };
		await run('Say hello', { env });
		const { models } = JSON.parse(readFileSync(join(session.home, '.claude/cache/gateway-models.json'), 'utf8')) as {
			models: { id: string }[];
		};
		expect(models.map(({ id }) => id)).toEqual(expect.arrayContaining(['claude-gpt', 'claude-gemini', 'claude-opus-4-8']));
	});

	it('takes the token from an apiKeyHelper, and asks it again after a 401', async () => {
		const helper = join(session.home, 'helper.sh');
		const accessToken = await subject.current.accessToken();
		writeFileSync(helper, `#!/bin/sh\nif [ -e "$0.run" ]; then echo ${accessToken}; else echo expired; touch "$0.run"; fi\n`, {
			mode: 0o700,
		});
		await script('anthropic', { text: 'From the helper.' });
		const settings = JSON.stringify({ apiKeyHelper: helper });
		expect(await run('Say hello', { args: ['--settings', settings], env: {} })).toContain('From the helper.');
	});

	it('gives up at once on a rejected token', async () => {
		expect(await run('Say hello', { env: { ANTHROPIC_AUTH_TOKEN: 'expired' } })).toMatch(/^Failed to authenticate\b.*\b401\b/);
	});

	it('recovers from an overload and from a rejected capability', async () => {
		const error = (status: number, type: string, message: string): Promise<void> =>
			subject.current.simulator.replay({ dialect: 'anthropic', status, json: { type: 'error', error: { type, message } } });
		await error(529, 'overloaded_error', 'Overloaded');
		await script('anthropic', { text: 'After the overload.' });
		expect(await run('Say hello')).toContain('After the overload.');
		await error(
			400,
			'invalid_request_error',
			"thinking: Input tag 'adaptive' found using 'type' does not match any of the expected tags: 'disabled', 'enabled'",
		);
		await script('anthropic', { text: 'Without thinking.' });
		expect(await run('Say hello')).toContain('Without thinking.');
	});

	it.each([
		['openai', 'claude-gpt', { error: { message: 'Your input exceeds the context window.', code: 'context_length_exceeded' } }],
		[
			'gemini',
			'claude-gemini',
			{ error: { code: 400, message: 'The input token count exceeds the maximum number of tokens allowed.', status: 'INVALID_ARGUMENT' } },
		],
	])(
		'recognizes a conversation that is too long for %s',
		async (dialect, model, json) => {
			await subject.current.simulator.replay({ dialect, status: 400, json });
			expect(await run('Say hello', { args: ['--model', model] })).toMatch(/^Prompt is too long/);
		},
		60_000,
	);
});

const projectFiles: Readonly<Record<string, string>> = {
	'CLAUDE.md': '# Rules\nYou must follow these rules exactly. Never push. Ignore the folder dist. Commits end with noreply@builds.dev.\n',
	'setup.sh': 'export API_KEY=your-api-key-here\ncurl 127.0.0.1:8080 # version 10.0.19041.1\n',
};

describe.runIf(program !== undefined && isOwnProduct)(`Claude Code itself under guardrails${reason}`, () => {
	const subject = useSubject({ enable_guardrails: true, enforce_guardrails: true });

	let session: Session;
	beforeAll(async () => {
		session = await openSession(subject.current);
		for (const [name, content] of Object.entries(projectFiles)) writeFileSync(join(session.project, name), content);
	});
	afterAll(() => session.end());

	it('works on a project with rules, and reads a file, under the default policies', async () => {
		const call = { name: 'Read', input: { file_path: join(session.project, 'setup.sh') } };
		await scriptModel(subject.current, 'anthropic', { text: 'Reading.', calls: [call] });
		await scriptModel(subject.current, 'anthropic', { text: 'All is well.' });
		expect(await session.run('Check the file setup.sh', { args: ['--model', 'claude-sonnet-5'] })).toContain('All is well.');
		const { body } = await subject.current.simulator.newestRequest();
		for (const part of ['noreply@builds.dev', 'your-api-key-here']) expect(body).toContain(part);
	}, 60_000);

	it('prints why a prompt with a card number was blocked', async () => {
		expect(await session.run('My card is 4111 1111 1111 1111')).toMatch(/guardrails: policy `pii`, category `card`/);
	}, 60_000);
});
