/** Modules that a start loads, and files that it caches for the next one. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { planProduct } from '../support/deployment.ts';
import { launcher, packageRoot, runProcess, startProcess } from '../support/processes.ts';

/** Writes the URL of every loaded module to standard error. */
const listing = `data:text/javascript,${encodeURIComponent(`import { registerHooks } from 'node:module';
registerHooks({ load(url, context, next) { process.stderr.write(url + '\\n'); return next(url, context); } });`)}`;

test('what the configuration does not use is not loaded', async () => {
	const { configPath } = await planProduct({ roles: ['edge', 'gateway', 'identity'], enable_guardrails: false });
	const product = startProcess(process.execPath, ['--import', listing, launcher, 'start', '--config', configPath]);
	await product.logged('started');
	const loaded = product.stderr.split('\n');
	const ofKind = (pattern: RegExp): string[] => loaded.filter((url) => pattern.test(url));
	expect(ofKind(/node_modules\/(fastify|zod)\//).length, 'the list is one').toBeGreaterThan(10);
	expect(ofKind(/node_modules\/(ioredis|pg|kysely|libphonenumber-js|ajv)\//)).toEqual([]);
	expect(ofKind(/\/(src\/(roles\/admin|stores\/(redis|postgres))|simulator)\//)).toEqual([]);
});

test('a start warns of what is valid and probably not meant', async () => {
	const { configPath } = await planProduct({
		roles: ['gateway'],
		providers: { near: { kind: 'anthropic', base_url: 'https://llm.example.com/v1' } },
	});
	const product = startProcess(process.execPath, [launcher, 'start', '--config', configPath]);
	expect(await product.logged('configuration')).toMatchObject({
		level: 'warn',
		warning: expect.stringMatching(/^providers\.near\.base_url: /) as unknown,
	});
});

test('the server of the data plane comes without Node’s fetch', async () => {
	const server = JSON.stringify(join(packageRoot, 'src/io/http1/server/http-server.ts'));
	const list = `await import(${server}); console.log(process.moduleLoadList.join('\\n'))`;
	const { stdout } = await runProcess(process.execPath, ['--input-type=module', '--eval', list]);
	const ofNode = stdout.split('\n');
	expect(ofNode).toContain('NativeModule http');
	expect(ofNode.filter((name) => name.includes('undici'))).toEqual([]);
});

/** Copies the program; `token` needs no package. */
function copyProgram(): string {
	const folder = mkdtempSync(join(tmpdir(), 'tollgate-start-'));
	onTestFinished(() => rmSync(folder, { recursive: true }));
	for (const part of ['package.json', 'bin']) cpSync(join(packageRoot, part), join(folder, part), { recursive: true });
	for (const part of ['main.ts', 'cli', 'client', 'config', 'core']) {
		cpSync(join(packageRoot, 'src', part), join(folder, 'src', part), { recursive: true });
	}
	return folder;
}

async function requestToken(folder: string): Promise<[number | null, string]> {
	const running = startProcess(process.execPath, [join(folder, 'bin/tollgate'), 'token'], { cwd: folder });
	const { code } = await running.ended;
	return [code, running.stderr];
}

test('compiled code is cached next to the program, without a message if that is impossible', async () => {
	const [usual, closed] = [copyProgram(), copyProgram()];
	mkdirSync(join(usual, 'node_modules'));
	writeFileSync(join(closed, 'node_modules'), 'no folder');
	const response = await requestToken(usual);
	expect(response[1]).toContain('missing environment variables');
	const retained = join(usual, 'node_modules/.cache/tollgate');
	expect(existsSync(retained) && readdirSync(retained, { recursive: true }).length).toBeGreaterThan(5);
	expect(await requestToken(usual), 'from what was kept').toEqual(response);
	expect(await requestToken(closed)).toEqual(response);
});
