/**
 * Steps after `git clone`. The demo has fixed addresses, so both tests are in this file and run one after the other. If the addresses are
 * in use, the tests run in a separate network namespace.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { copyTrackedFiles } from '../support/fresh-clone.ts';
import {
	launcher,
	packageRoot,
	type Running,
	runProcess,
	type StartOptions,
	startProcess,
	systemPath,
	temporaryDirectory,
} from '../support/processes.ts';
import { eventually } from '../support/product.ts';

/** True if commands run in a private network namespace. */
let isPrivateNetwork = false;

beforeAll(async () => {
	const free = await Promise.all([8787, 8788, 8789, 8790].map(isFree));
	isPrivateNetwork = free.includes(false);
	if (!isPrivateNetwork) return;
	const { status } = spawnSync('unshare', ['-rn', 'ip', 'link', 'set', 'lo', 'up']);
	if (status !== 0) {
		throw new Error('The demo’s ports 8787 to 8790 are in use, and `unshare -rn` does not work here: stop what listens there');
	}
});

/** Starts a command; `sh` runs a shell command in the same network. */
function startHere(
	program: string,
	args: readonly string[],
	options: StartOptions,
): { running: Running; sh: (command: string) => ReturnType<typeof runProcess> } {
	if (!isPrivateNetwork) {
		return { running: startProcess(program, args, options), sh: (command) => runProcess('sh', ['-c', command], options) };
	}
	const running = startProcess('unshare', ['-rn', 'sh', '-c', 'ip link set lo up; exec "$@"', 'sh', program, ...args], options);
	const into = ['-t', String(running.pid), '-U', '--preserve-credentials', '-n', 'sh', '-c'];
	return { running, sh: (command) => runProcess('nsenter', [...into, command], options) };
}

/** Commands of the banner, as a user pastes them. */
function commandsOf(banner: string): string[] {
	return banner.split('\n').filter((line) => /^(curl|[A-Z_]+=\$\(curl)/.test(line));
}

async function untilBanner(running: Running): Promise<string> {
	return eventually(
		`the banner; ${running.stderr}`,
		() => {
			if (running.child.exitCode !== null) throw new Error(`ended with ${running.child.exitCode}: ${running.stderr}${running.stdout}`);
			return running.stdout.includes('Stop with Ctrl-C') ? running.stdout : undefined;
		},
		60_000,
	);
}

test('the demo: every printed command works when pasted, and a restart shows the same secret', async () => {
	const cwd = temporaryDirectory();
	const env = { HOME: cwd };
	const { running, sh } = startHere(process.execPath, [launcher, 'start', '--demo'], { cwd, env });
	const banner = await untilBanner(running);
	expect(banner).toMatch(/^client id +demo$/m);
	const secret = /^client secret +(\S+)$/m.exec(banner)?.[1] ?? '';
	expect(secret).toMatch(/^[\w-]{32,}$/);
	for (const letter of 'abcd') expect(banner).toMatch(new RegExp(`^provider_${letter} .*simulator`, 'm'));
	for (const port of [8787, 8789, 8790]) expect(banner).toContain(`http://127.0.0.1:${port}`);

	const commands = commandsOf(banner);
	expect(commands).toHaveLength(3);
	const outputs = await pasteAll(sh, commands);
	expect(JSON.parse(outputs[1] ?? '')).toMatchObject({ object: 'chat.completion', choices: [{ message: { role: 'assistant' } }] });
	expect(JSON.parse(outputs[2] ?? '')).toMatchObject({ type: 'message', role: 'assistant', content: [{ type: 'text' }] });
	const [, , vendor, helped] = await pasteAll(sh, [
		commands[0] ?? '',
		`TOKEN=$(${process.execPath} ${launcher} token --demo)`,
		(commands[1] ?? '').replace('"gpt-5.4-mini"', '"openai/gpt-5.4-mini"').replace('curl', 'curl -si'),
		'printf %s "$TOKEN"',
	]);
	expect(vendor, 'a vendor’s name in place of the provider’s').toMatch(/^x-gateway-provider: provider_b\r$/m);
	expect(helped, 'the token helper knows the demo').toMatch(/^eyJ[\w.-]+$/);
	expect(readdirSync(cwd), 'nothing else is written').toEqual(['.tollgate']);
	const requested = `'{"model":"gpt-5.4-mini","messages":[{"role":"user","content":"Hello"}]}'`;
	const tollgate = `${process.execPath} ${launcher}`;
	const [explained, examined, assessed] = await pasteAll(sh, [
		`printf %s ${requested} | ${tollgate} explain --client demo --body - --json`,
		`${tollgate} doctor --json`,
		`${tollgate} assessment list --json`,
	]);
	expect(JSON.parse(explained ?? ''), 'as the call was answered').toMatchObject({ outcome: { admitted: true }, team: { id: 'demo-team' } });
	expect(JSON.parse(examined ?? '')).toContainEqual({
		name: 'configuration',
		ok: true,
		detail: expect.stringContaining('the demo configuration') as unknown,
	});
	expect(JSON.parse(assessed ?? ''), 'the demo’s own answers trip nothing').toEqual([]);
	const wrong = await sh((commands[0] ?? '').replace(secret, 'wrong').concat('; echo "<$TOKEN>"'));
	expect(wrong.stdout, 'a wrong secret gives no token').toBe('<>\n');
	expect(wrong.stderr, 'and is seen').toContain('401');
	const elsewhere = await sh(`cd "$(mktemp -d -p ${cwd})" && ${tollgate} start --demo`);
	expect(elsewhere, 'a file with another address would end the demo').toMatchObject({
		code: 2,
		stderr: expect.stringMatching(
			/^tollgate: \S+ is already in use: stop the process that listens there; the demo uses this address/,
		) as unknown,
	});
	// SIGHUP ends the demo without a terminal too, because it has no configuration file to reload.
	running.child.kill('SIGHUP');
	expect(await running.ended).toEqual({ code: 0, signal: null });

	const { running: again, sh: shAgain } = startHere(process.execPath, [launcher, 'start', '--demo'], {
		cwd,
		env: { ...env, ANTHROPIC_API_KEY: 'sk-ant-own-key' },
	});
	const second = await untilBanner(again);
	expect(/^client secret +(\S+)$/m.exec(second)?.[1], 'the same secret').toBe(secret);
	expect(second).toMatch(/^provider_a .*real, your key$/m);
	expect(second).toMatch(/^provider_b .*simulator/m);
	expect(second).not.toContain('sk-ant-own-key');
	const [, chat] = await pasteAll(shAgain, commandsOf(second).slice(0, 2));
	expect(JSON.parse(chat ?? '')).toMatchObject({ object: 'chat.completion' });
	again.child.kill('SIGINT');
	expect(await again.ended).toEqual({ code: 0, signal: null });
}, 180_000);

test('the demo next to a configuration file: the log says that the file replaces it', async () => {
	const cwd = temporaryDirectory();
	writeFileSync(join(cwd, 'tollgate.yaml'), 'roles: [simulator]\nsimulator: { listen: 127.0.0.1:0 }\n');
	const running = startProcess(process.execPath, [launcher, 'start', '--demo'], { cwd, env: { HOME: cwd } });
	await eventually('the start', () => (running.stdout.includes('"msg":"started"') ? true : undefined), 30_000);
	expect(running.stdout).toContain(`"msg":"the configuration file replaces the demo","file":"${join(cwd, 'tollgate.yaml')}"`);
	running.child.kill('SIGTERM');
	expect(await running.ended).toEqual({ code: 0, signal: null });
}, 60_000);

test('a fresh clone with its packages at hand: npm start from an empty environment and the machine’s own Node', async () => {
	const home = temporaryDirectory();
	const clone = join(home, 'clone');
	copyTrackedFiles(clone);
	linkPackages(clone);
	const env = { HOME: home, PATH: systemPath };
	const version = await runProcess(join(clone, 'bin/tollgate'), ['--version'], { cwd: home, env });
	const { version: expected } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string };
	expect(version).toEqual({ code: 0, stdout: `${expected}\n`, stderr: '' });
	expect(await runProcess('npm', ['run', 'start', '--silent', '--', '--help'], { cwd: clone, env })).toMatchObject({
		code: 0,
		stdout: expect.stringContaining('tollgate start --demo') as unknown,
	});

	const { running, sh } = startHere('npm', ['start'], { cwd: clone, env });
	const banner = await untilBanner(running);
	expect(running.stderr, 'nothing was installed').toBe('');
	const outputs = await pasteAll(sh, commandsOf(banner));
	expect(JSON.parse(outputs[1] ?? '')).toMatchObject({ object: 'chat.completion' });
	running.child.kill('SIGTERM');
	await running.ended;
	expect((await sh('curl -s http://127.0.0.1:8787/')).code, 'nothing is left').not.toBe(0);
}, 180_000);

/** Pastes commands into one shell. All must succeed. @returns the output of each command. */
async function pasteAll(sh: (command: string) => ReturnType<typeof runProcess>, commands: readonly string[]): Promise<string[]> {
	const mark = '\n--- next ---\n';
	const script = commands.map((command) => `${command} || exit 9\nprintf '${mark.replaceAll('\n', '\\n')}'`).join('\n');
	const { code, stdout } = await sh(script);
	expect({ script, code }).toEqual({ script, code: 0 });
	return stdout.split(mark).slice(0, -1);
}

/** Creates hard links to every installed file, which is faster and smaller than an installation. */
function linkPackages(clone: string): void {
	const target = join(clone, 'node_modules');
	if (spawnSync('cp', ['-al', join(packageRoot, 'node_modules'), target]).status === 0) return;
	// Copies instead, because hard links fail on another file system.
	rmSync(target, { recursive: true, force: true });
	mkdirSync(dirname(target), { recursive: true });
	cpSync(join(packageRoot, 'node_modules'), target, { recursive: true, verbatimSymlinks: true });
}

function isFree(port: number): Promise<boolean> {
	return new Promise((resolve) => {
		const server = createServer();
		server.once('error', () => resolve(false));
		server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
	});
}
