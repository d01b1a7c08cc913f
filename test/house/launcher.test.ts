import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { on, once } from 'node:events';
import { accessSync, chmodSync, constants, cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { constants as osConstants, tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const home = mkdtempSync(join(tmpdir(), 'tollgate-launcher-'));
const systemPath = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'));

/** Replacement for the product: prints how it was started, and does what its first argument says. */
const program = `
const args: string[] = process.argv.slice(2);
const [task, ...rest] = args[0] === 'start' ? args.slice(2) : args;
if (task === 'exit') process.exitCode = Number(rest[0]);
if (task === 'serve') {
	const alive = setInterval(() => {}, 1000);
	for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
		process.on(signal, () => { console.log(signal); process.exitCode = 7; clearInterval(alive); });
	}
}
console.log(JSON.stringify({ version: process.version, args, pid: process.pid }));
if (task === 'die') process.kill(process.pid, 'SIGTERM');
`;

/** Creates a package like Tollgate's, with the program above as the product. */
function makePackage(name: string): string {
	const folder = join(home, name);
	mkdirSync(join(folder, 'src'), { recursive: true });
	mkdirSync(join(folder, 'scripts'));
	for (const file of ['package.json', '.npmrc', 'bin', 'scripts/prepare.cjs']) {
		cpSync(join(root, file), join(folder, file), { recursive: true });
	}
	symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
	writeFileSync(join(folder, 'src/main.ts'), program);
	writeFileSync(
		join(folder, 'scripts/test.ts'),
		'console.log(JSON.stringify({ version: process.version, args: process.argv.slice(2) }));\n',
	);
	return folder;
}

/** Creates a folder with a `node` that reports version 20 and fails to run the product. */
function makeOldNode(): string {
	const folder = join(home, 'old-node');
	mkdirSync(folder);
	const disguise = join(folder, 'disguise.cjs');
	writeFileSync(
		disguise,
		`if (/main\\.[tj]s$/.test(process.argv[1])) process.exit(99);
Object.defineProperty(process, 'version', { value: 'v20.20.2' });
Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } });`,
	);
	writeFileSync(
		join(folder, 'node'),
		`#!/bin/sh\n[ "$1" = --version ] && echo v20.20.2 && exit\nexec '${process.execPath}' --require '${disguise}' "$@"\n`,
	);
	chmodSync(join(folder, 'node'), 0o755);
	return folder;
}

function isExecutable(file: string): boolean {
	try {
		accessSync(file, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}

/** Finds the machine's own Node if its version is too old. */
function findOldNode(): string[] {
	const folder = systemPath.find((one) => isExecutable(join(one, 'node')));
	if (folder === undefined) return [];
	const version = spawnSync(join(folder, 'node'), ['--version'], { encoding: 'utf8' }).stdout;
	return Number(/\d+/.exec(version)?.[0]) < 24 ? [folder] : [];
}

interface Start {
	readonly version: string;
	readonly args: string[];
	readonly pid: number;
}

interface Running {
	readonly child: ChildProcess;
	readonly isOver: Promise<unknown>;
	readonly output: () => string;
}

let folder: string;
beforeAll(() => {
	folder = makePackage('package');
});
afterAll(() => rmSync(home, { recursive: true }));

describe.each([...findOldNode(), makeOldNode()])('with the Node of %s', (nodeFolder) => {
	const env = { HOME: home, PATH: [nodeFolder, ...systemPath].join(delimiter) };

	function run(command: string, args: string[], cwd = home): { start: Start; status: number | null; stderr: string } {
		const { stdout, stderr, status } = spawnSync(command, args, { cwd, env, encoding: 'utf8' });
		const line = stdout.split('\n').find((one) => one.startsWith('{')) ?? '{}';
		return { start: JSON.parse(line) as Start, status, stderr };
	}

	/** Starts a command. `isOver` waits until no process holds the output open, so that none is left running. */
	async function serve(command: string, args: string[], cwd = home): Promise<Running> {
		const child = spawn(command, args, { cwd, env });
		onTestFinished(() => void child.kill('SIGKILL'));
		const isOver = once(child, 'close');
		let output = '';
		for await (const bytes of on(child.stdout, 'data', { close: ['close'] })) {
			output += String(bytes);
			if (output.includes('}\n')) break;
		}
		child.stdout.on('data', (bytes: Buffer) => (output += bytes.toString()));
		return { child, isOver, output: () => output };
	}

	test('the machine’s own node is an old one', () => {
		expect(spawnSync('node', ['--version'], { env, encoding: 'utf8' }).stdout).toMatch(/^v(18|20|22)\./);
	});

	test('npm start runs the demo on Node 26 and hands on its arguments', () => {
		const { start } = run('npm', ['start', '--', '--config', 'a b.yaml'], folder);
		expect(start.version).toMatch(/^v26\./);
		expect(start.args).toEqual(['start', '--demo', '--config', 'a b.yaml']);
	});

	test('npm test runs on Node 26 and hands on its arguments', () => {
		const { start } = run('npm', ['test', '--', 'src/core'], folder);
		expect(start.version).toMatch(/^v26\./);
		expect(start.args).toEqual(['src/core']);
	});

	test('npm start ends with the product when it receives a signal to stop', async () => {
		const { child, output, isOver } = await serve('npm', ['start', '--', 'serve'], folder);
		child.kill('SIGTERM');
		await isOver;
		expect(output()).toContain('SIGTERM');
	});

	test('bin/tollgate runs on Node 26, from anywhere, also through a symbolic link', () => {
		const link = join(home, `link-${nodeFolder.replaceAll('/', '-')}`);
		symlinkSync(join(folder, 'bin/tollgate'), link);
		for (const command of [join(folder, 'bin/tollgate'), link]) {
			const { start, status } = run(command, ['config', 'check', 'a b']);
			expect(start.version).toMatch(/^v26\./);
			expect(start.args).toEqual(['config', 'check', 'a b']);
			expect(status).toBe(0);
		}
	});

	test('bin/gateway-token is `tollgate token`', () => {
		expect(run(join(folder, 'bin/gateway-token'), ['--cache']).start.args).toEqual(['token', '--cache']);
	});

	test('bin/tollgate ends as the product ends', () => {
		expect(run(join(folder, 'bin/tollgate'), ['exit', '3']).status).toBe(3);
		expect(run(join(folder, 'bin/tollgate'), ['die']).status).toBe(128 + osConstants.signals.SIGTERM);
	});

	test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('bin/tollgate hands on %s and leaves nothing behind', async (signal) => {
		const { child, output, isOver } = await serve(join(folder, 'bin/tollgate'), ['serve']);
		child.kill(signal);
		await isOver;
		expect(child.exitCode).toBe(7);
		expect(
			output()
				.split('\n')
				.filter((line) => line.startsWith('SIG')),
		).toEqual([signal]);
	});

	test('bin/tollgate killed outright leaves nothing behind', async () => {
		const { child, isOver } = await serve(join(folder, 'bin/tollgate'), ['serve']);
		child.kill('SIGKILL');
		await isOver;
		expect(child.signalCode).toBe('SIGKILL');
	});

	test('without the runtime package one line says what to do', () => {
		const bare = makePackage(`bare-${dirname(nodeFolder).replaceAll('/', '-')}`);
		rmSync(join(bare, 'node_modules'));
		mkdirSync(join(bare, 'node_modules'));
		const { status, stderr } = run(join(bare, 'bin/tollgate'), ['start']);
		expect(status).toBe(2);
		expect(stderr).toMatch(/^tollgate needs Node 24 or newer, this is v2\d\.\S+: install Node 26 .*\n$/);
	});

	test.each(['bin/tollgate', 'bin/gateway-token'])('%s of a clone in which nothing was installed asked for another Node', (command) => {
		const bare = makePackage(`clone-${dirname(nodeFolder).replaceAll('/', '-')}-${basename(command)}`);
		rmSync(join(bare, 'node_modules'));
		const { status, stderr } = run(join(bare, command), []);
		expect({ status, stderr }).toEqual({
			status: 2,
			stderr: `tollgate: nothing is installed in ${bare}: run \`npm install\` there once, or \`npm start\`, which does it by itself.\n`,
		});
	});
});

test('bin/tollgate needs no second process where Node is new enough', () => {
	const child = spawnSync(process.execPath, [join(folder, 'bin/tollgate'), 'exit', '4'], { encoding: 'utf8' });
	expect(child.status).toBe(4);
	expect(JSON.parse(child.stdout)).toMatchObject({ args: ['exit', '4'], pid: child.pid });
});

test('bin/tollgate starts dist/src/main.js where there is no src, as in the published package', () => {
	const published = makePackage('published');
	mkdirSync(join(published, 'dist/src'), { recursive: true });
	renameSync(join(published, 'src/main.ts'), join(published, 'dist/src/main.js'));
	writeFileSync(join(published, 'dist/src/main.js'), 'console.log("built", ...process.argv.slice(2));');
	const { stdout } = spawnSync(join(published, 'bin/tollgate'), ['x'], { env: { PATH: systemPath.join(delimiter) }, encoding: 'utf8' });
	expect(stdout).toBe('built x\n');
});
