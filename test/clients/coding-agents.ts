/** Programs for a terminal: each test is one or more runs of the program, with the settings that `tollgate connect` writes. */
import { globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { launcher, startBackground } from './background.ts';
import type { FeatureName, FeatureResults } from './features.ts';
import { installFolder } from './installs.ts';
import { type ClientContext, type ProgramResult, runToEnd } from './run-to-end.ts';

type Tests = Partial<Record<FeatureName, () => Promise<void>>>;

/** Runs the tests one after the other; an error is the reason of its feature. */
async function runTests(features: readonly FeatureName[], tests: Tests): Promise<FeatureResults> {
	const results: Partial<Record<FeatureName, string | null>> = {};
	for (const feature of features) {
		try {
			await tests[feature]?.();
			results[feature] = null;
		} catch (error) {
			results[feature] = error instanceof Error ? error.message : String(error);
		}
	}
	return results;
}

function expectText({ code, stdout, stderr }: ProgramResult, part: string): void {
	if (code === 0 && stdout.includes(part)) return;
	throw new Error(`exit code ${code}, expected ${JSON.stringify(part)} in ${JSON.stringify(`${stdout}\n${stderr}`.slice(-400))}`);
}

async function connect(context: ClientContext, program: string, others: readonly string[] = []): Promise<void> {
	const result = await runToEnd(process.execPath, [launcher, 'connect', program, '--write', ...others], context);
	expectText(result, 'wrote ');
}

/** Sets the tool call of the model's next response, or of its next responses. */
async function callTool({ simulatorUrl }: ClientContext, model: string, name: string, input: unknown, count = 1): Promise<void> {
	const send = async (method: string, path: string, body?: unknown): Promise<void> => {
		const options = { method, ...(body !== undefined && { body: JSON.stringify(body) }) };
		const { ok, status } = await fetch(`${simulatorUrl}/_simulator/${path}`, options);
		if (!ok) throw new Error(`the simulator returned ${status}`);
	};
	await send('DELETE', 'replay');
	await send('POST', 'script', { model, count, text: '', calls: [{ name, input }] });
}

/** Bodies that providers received for a model, newest first. */
async function sentBodies({ simulatorUrl }: ClientContext, model: string): Promise<string[]> {
	const response = await fetch(`${simulatorUrl}/_simulator/requests?limit=100&model=${model}`);
	const { data } = (await response.json()) as { data: { body?: string }[] };
	return data.map(({ body = '' }) => body);
}

async function expectSent(context: ClientContext, model: string, part: string): Promise<void> {
	const bodies = await sentBodies(context, model);
	if (!bodies.some((body) => body.includes(part))) throw new Error(`no request to the provider contains ${JSON.stringify(part)}`);
}

/** Field of a request with the reasoning of an earlier turn, by vendor. */
function reasoningField(model: string): string {
	if (model.startsWith('claude')) return '"signature":';
	return model.startsWith('gemini') ? 'thoughtSignature' : 'encrypted_content';
}

function programFile(install: 'claude-code' | 'codex' | 'opencode', pattern: string): string {
	const folder = installFolder(install);
	const [found] = globSync(pattern, { cwd: folder });
	if (found === undefined) throw new Error(`${pattern} is not in ${folder}`);
	return join(folder, found);
}

export async function runClaudeCode(context: ClientContext, model: string, features: readonly FeatureName[]): Promise<FeatureResults> {
	await connect(context, 'claude-code', ['--models', model]);
	const program = programFile('claude-code', 'node_modules/@anthropic-ai/claude-code-*/claude');
	const ask = (prompt: string, ...args: string[]): Promise<ProgramResult> => runToEnd(program, ['-p', prompt, ...args], context);
	const read = async (): Promise<void> => {
		const path = join(context.home, 'work/note.txt');
		writeFileSync(path, 'the note is blue\n');
		await callTool(context, model, 'Read', { file_path: path });
		expectText(await ask('Read the note.'), 'the note is blue');
	};
	return runTests(features, {
		text: async () => expectText(await ask('Say hello.'), 'Say hello'),
		stream: async () => {
			const events = await ask('Say hello.', '--output-format', 'stream-json', '--include-partial-messages', '--verbose');
			expectText(events, '"type":"text_delta"');
		},
		tools: read,
		'reasoning kept': async () => {
			await read();
			await expectSent(context, model, reasoningField(model));
		},
		'multi-turn': async () => {
			expectText(await ask('My name is Ada.'), 'Ada');
			expectText(await ask('What is my name?', '--continue'), 'What is my name?');
			await expectSent(context, model, 'My name is Ada.');
		},
	});
}

/** Turns of the session, each with a tool call. */
const sessionTurns = 20;

export async function runCodex(context: ClientContext, model: string, features: readonly FeatureName[]): Promise<FeatureResults> {
	await connect(context, 'codex', ['--models', model]);
	const program = programFile('codex', 'node_modules/@openai/codex-*/vendor/*/bin/codex');
	const options = ['--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', '-c', 'model_reasoning_effort="medium"'];
	const start = (prompt: string, ...args: string[]): Promise<ProgramResult> =>
		runToEnd(program, ['exec', ...options, ...args, prompt], context);
	const resume = (prompt: string): Promise<ProgramResult> => runToEnd(program, ['exec', 'resume', '--last', ...options, prompt], context);
	const echo = (text: string): Promise<void> => callTool(context, model, 'exec_command', { cmd: `echo "out-of-$((1+1))-${text}"` });
	const session = async (): Promise<void> => {
		rmSync(join(context.home, '.codex/sessions'), { recursive: true, force: true });
		for (let turn = 1; turn <= sessionTurns; turn += 1) {
			await echo(`turn-${turn}`);
			const result = await (turn === 1 ? start('Begin turn 1.') : resume(`Begin turn ${turn}.`));
			expectText(result, '');
			await expectSent(context, model, `out-of-2-turn-${turn}`);
		}
		const [newest = ''] = await sentBodies(context, model);
		for (let turn = 1; turn <= sessionTurns; turn += 1) {
			if (!newest.includes(`out-of-2-turn-${turn}`)) throw new Error(`the last request does not contain the tool result of turn ${turn}`);
		}
	};
	return runTests(features, {
		text: async () => {
			// The simulator quotes the start of the message, which can begin with the context that Codex CLI adds.
			expectText(await start('Say hello.'), 'You wrote: ');
			await expectSent(context, model, 'Say hello.');
		},
		stream: async () => expectText(await start('Say hello.', '--json'), '"type":"agent_message"'),
		tools: async () => {
			await echo('once');
			expectText(await start('Run it.'), '');
			await expectSent(context, model, 'out-of-2-once');
		},
		'multi-turn': session,
		'reasoning kept': async () => {
			const [newest = ''] = await sentBodies(context, model);
			if (!newest.includes(reasoningField(model))) throw new Error(`the last request does not contain ${reasoningField(model)}`);
		},
	});
}

export async function runOpencode(context: ClientContext, model: string, features: readonly FeatureName[]): Promise<FeatureResults> {
	const proxy = await startBackground(['proxy', '--listen', '127.0.0.1:0'], context);
	try {
		await connect(context, 'opencode', ['--models', model, '--proxy', proxy.url]);
		const program = programFile('opencode', 'node_modules/opencode-linux-*/bin/opencode');
		const variables = { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' };
		const ask = (prompt: string, ...args: string[]): Promise<ProgramResult> =>
			runToEnd(program, ['run', '-m', `tollgate/${model}`, ...args, prompt], context, variables);
		return await runTests(features, {
			text: async () => expectText(await ask('Say hello.'), 'Say hello'),
			stream: async () => expectText(await ask('Say hello.', '--format', 'json'), '"type":"text"'),
			tools: async () => {
				const path = join(context.home, 'work/note.txt');
				writeFileSync(path, 'the note is blue\n');
				// A request for the title of the session may take one of the two.
				await callTool(context, model, 'read', { filePath: path }, 2);
				expectText(await ask('Read the note.'), 'the note is blue');
			},
			'multi-turn': async () => {
				expectText(await ask('My name is Ada.'), 'Ada');
				expectText(await ask('What is my name?', '--continue'), 'What is my name?');
				await expectSent(context, model, 'My name is Ada.');
			},
		});
	} finally {
		await proxy.stop();
	}
}

export async function runLlm(context: ClientContext, model: string, features: readonly FeatureName[]): Promise<FeatureResults> {
	const folder = join(context.home, '.config/io.datasette.llm');
	mkdirSync(folder, { recursive: true });
	const entry = {
		model_id: `tollgate/${model}`,
		model_name: model,
		api_base: `${context.gatewayUrl}/v1`,
		api_key_name: 'tollgate',
		supports_tools: true,
	};
	// JSON is YAML.
	writeFileSync(join(folder, 'extra-openai-models.yaml'), JSON.stringify([entry]));
	const program = join(installFolder('python'), 'bin/llm');
	const ask = (prompt: string, ...args: string[]): Promise<ProgramResult> =>
		runToEnd(program, ['-m', `tollgate/${model}`, '--key', context.accessToken, ...args, prompt], context);
	return runTests(features, {
		text: async () => expectText(await ask('Say hello.', '--no-stream'), 'Say hello'),
		stream: async () => expectText(await ask('Say hello.'), 'Say hello'),
		tools: async () => {
			const functions = 'def get_weather(city: str) -> str:\n    """The weather of a city"""\n    return f"21 degrees in {city}"\n';
			expectText(await ask('What is the weather in Paris?', '--functions', functions), '21 degrees in Paris');
		},
		'multi-turn': async () => {
			expectText(await ask('My name is Ada.'), 'Ada');
			expectText(await ask('What is my name?', '--continue'), 'What is my name?');
			await expectSent(context, model, 'My name is Ada.');
		},
	});
}
