import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../core/clock.ts';
import type { LogFields } from '../core/log.ts';
import { loadConfig } from './load.ts';
import type { Config } from './schema.ts';
import { type ConfigWatch, watchConfig } from './watch.ts';

class HandClock implements Clock {
	readonly #tasks = new Set<() => void>();
	nowMs = (): number => 0;
	monotonicMs = (): number => 0;
	after(_delayMs: number, task: () => void): { cancel(): void } {
		this.#tasks.add(task);
		return { cancel: () => this.#tasks.delete(task) };
	}
	tick(times = 1): void {
		for (let time = 0; time < times; time += 1) {
			for (const task of [...this.#tasks]) {
				this.#tasks.delete(task);
				task();
			}
		}
	}
	get waiting(): number {
		return this.#tasks.size;
	}
}

let folder = '';
let file = '';
let clock: HandClock;
let lines: { event: string; fields: LogFields | undefined }[];
let seen: { next: Config; needsRestart: readonly string[] }[];

beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), 'tollgate-watch-'));
	file = join(folder, 'tollgate.yaml');
	clock = new HandClock();
	lines = [];
	seen = [];
});
afterEach(() => rmSync(folder, { recursive: true }));

const put = (text: string, name = file): void => writeFileSync(name, text);

function watch(
	onChange = (next: Config, needsRestart: readonly string[]): void => void seen.push({ next, needsRestart }),
	initial = loadConfig({ configPath: file, env: {} }),
): ConfigWatch {
	const say = (event: string, fields?: LogFields): void => void lines.push({ event, fields });
	return watchConfig({
		initial,
		load: () => loadConfig({ configPath: file, env: {} }),
		onChange,
		clock,
		log: { debug: say, info: say, warn: say, error: say },
	});
}

describe('watchConfig', () => {
	it('reloads what was written since the file was loaded, or reports what is wrong with it', () => {
		put('gateway: { heartbeat_ms: 1 }');
		const initial = loadConfig({ configPath: file, env: {} });
		expect([watch(undefined, initial).current.gateway.heartbeat_ms, lines]).toEqual([1, []]);
		put('gateway: { heartbeat_ms: ');
		expect([watch(undefined, initial).current.gateway.heartbeat_ms, lines.map(({ event }) => event)]).toEqual([
			1,
			['configuration rejected, the previous one stays active'],
		]);
		put('gateway: { heartbeat_ms: 22 }');
		expect([watch(undefined, initial).current.gateway.heartbeat_ms, seen.length]).toEqual([22, 1]);
	});

	it('reloads a write in place once two checks see the same state', () => {
		put('gateway: { heartbeat_ms: 1 }');
		const watching = watch();
		clock.tick(3);
		expect(seen).toEqual([]);
		put('gateway: { heartbeat_ms: 22 }');
		clock.tick();
		expect(watching.current.gateway.heartbeat_ms).toBe(1);
		clock.tick();
		expect(watching.current.gateway.heartbeat_ms).toBe(22);
		expect(seen).toHaveLength(1);
		expect(lines).toEqual([
			{ event: 'configuration changed', fields: { changes: [{ path: 'gateway.heartbeat_ms', before: 1, after: 22 }], needs_restart: [] } },
		]);
		clock.tick(3);
		expect(seen).toHaveLength(1);
	});

	it('waits for a file that is still being written', () => {
		put('gateway: { heartbeat_ms: 1 }');
		const watching = watch();
		for (const text of ['gate', 'gateway: { hea', 'gateway: { heartbeat_ms: 3']) {
			put(text);
			clock.tick();
		}
		put('gateway: { heartbeat_ms: 33 }');
		clock.tick(2);
		expect(watching.current.gateway.heartbeat_ms).toBe(33);
		expect(lines.map(({ event }) => event)).toEqual(['configuration changed']);
	});

	it('sees an editor’s rename and a file that is missing for a moment', () => {
		put('gateway: { heartbeat_ms: 1 }');
		const watching = watch();
		put('gateway: { heartbeat_ms: 2 }', `${file}~`);
		renameSync(`${file}~`, file);
		clock.tick(2);
		expect(watching.current.gateway.heartbeat_ms).toBe(2);
		unlinkSync(file);
		clock.tick(2);
		expect(watching.current.gateway.heartbeat_ms).toBe(2);
		expect(lines.at(-1)?.event).toContain('rejected');
		put('gateway: { heartbeat_ms: 3 }');
		clock.tick(2);
		expect(watching.current.gateway.heartbeat_ms).toBe(3);
	});

	it('sees the swapped symbolic link of a Kubernetes ConfigMap', () => {
		for (const [name, text] of [
			['..1', 'gateway: { heartbeat_ms: 1 }'],
			['..2', 'gateway: { heartbeat_ms: 2 }'],
		] as const) {
			mkdirSync(join(folder, name));
			put(text, join(folder, name, 'tollgate.yaml'));
		}
		symlinkSync('..1', join(folder, '..data'));
		symlinkSync('..data/tollgate.yaml', file);
		const watching = watch();
		symlinkSync('..2', join(folder, '..data_tmp'));
		renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
		clock.tick(2);
		expect(watching.current.gateway.heartbeat_ms).toBe(2);
	});

	it('keeps the last good configuration and says why once for each content', () => {
		put('gateway: { heartbeat_ms: 1 }');
		const watching = watch();
		put('gateway: { heartbeat_ms: soon }');
		clock.tick(4);
		put('gateway: { heartbeat_ms: soon }');
		clock.tick(4);
		expect(watching.current.gateway.heartbeat_ms).toBe(1);
		expect(lines).toHaveLength(1);
		expect(lines[0]?.event).toBe('configuration rejected, the previous one stays active');
		expect(lines[0]?.fields?.['problems']).toMatchObject([{ file, line: 1, column: 26, path: 'gateway.heartbeat_ms' }]);
		put('gateway: { heartbeat_ms: later }');
		clock.tick(2);
		expect(lines).toHaveLength(2);
		expect(seen).toEqual([]);
	});

	it('watches secret files too, those that a new file names and those that are missing', () => {
		put('');
		const watching = watch();
		const key = (): unknown => watching.current.providers['provider_a']?.api_key;
		put('providers: { provider_a: { api_key_file: key } }');
		clock.tick(2);
		expect(lines.at(-1)?.event).toContain('rejected');
		put('sk-1\n', join(folder, 'key'));
		clock.tick(2);
		expect(key()).toBe('sk-1');
		put('sk-22\n', join(folder, 'key'));
		clock.tick(2);
		expect(key()).toBe('sk-22');
		expect(JSON.stringify(lines)).not.toContain('sk-');
		expect(lines.at(-1)?.fields?.['changes']).toEqual([{ path: 'providers.provider_a.api_key', before: '***', after: '***' }]);
	});

	it('names the settings that need a restart', () => {
		put('');
		watch();
		put('gateway: { listen: 127.0.0.1:1, heartbeat_ms: 5 }\nroles: [gateway]\nedge: { limits: { keep_alive_ms: 5 } }');
		clock.tick(2);
		expect(seen[0]?.needsRestart).toEqual(['roles', 'edge.limits.keep_alive_ms', 'gateway.listen']);
	});

	it('reloads at once on request, and reports when nothing changed', () => {
		put('gateway: { heartbeat_ms: 1 }');
		const watching = watch();
		expect(watching.reload()).toBe(true);
		expect(lines.at(-1)?.event).toBe('configuration unchanged');
		put('gateway: { heartbeat_ms: 2 }');
		expect(watching.reload()).toBe(true);
		expect(watching.current.gateway.heartbeat_ms).toBe(2);
		clock.tick(3);
		expect(seen).toHaveLength(1);
		put('gateway: 2');
		expect(watching.reload()).toBe(false);
	});

	it('keeps the last good configuration when the new one cannot be put in force', () => {
		put('');
		const watching = watch(() => {
			throw new Error('no such certificate');
		});
		put('gateway: { heartbeat_ms: 2 }');
		clock.tick(2);
		expect(watching.current.gateway.heartbeat_ms).toBe(10_000);
		expect(lines.at(-1)?.event).toBe('configuration not applied, the previous one stays active');
	});

	it('stops', () => {
		put('');
		watch().stop();
		expect(clock.waiting).toBe(0);
	});

	it('an emptied file, as a full disk leaves it, does not reset everything to the defaults', () => {
		put('data_dir: one\n');
		const running = watch();
		put('');
		clock.tick(3);
		expect(running.reload()).toBe(false);
		expect(running.current.data_dir).toContain('one');
		expect(seen).toEqual([]);
		expect(lines.map(({ event }) => event)).toEqual(Array(2).fill('configuration rejected, the previous one stays active'));
		put('data_dir: two\n');
		clock.tick(3);
		expect(running.current.data_dir).toContain('two');
		running.stop();
	});

	it.each(['\n', '# yaml-language-server: $schema=./config.schema.json\n', '---\n', 'null\n'])(
		'a file that holds no setting but %j does not reset everything either',
		(text) => {
			put('data_dir: one\n');
			const running = watch();
			put(text);
			expect(running.reload()).toBe(false);
			expect(running.current.data_dir).toContain('one');
			expect(lines.at(-1)?.fields).toMatchObject({ problems: [{ file, message: 'is empty: write `{}` for the defaults' }] });
			put('{}\n');
			expect(running.reload()).toBe(true);
			put(text);
			expect(running.reload(), 'it changes nothing').toBe(true);
			running.stop();
		},
	);

	it('what is put back to what the process began with needs no restart', () => {
		put('gateway: { listen: 127.0.0.1:1 }');
		const running = watch();
		put('gateway: { listen: 127.0.0.1:2 }');
		running.reload();
		put('gateway: { listen: 127.0.0.1:1, heartbeat_ms: 5 }');
		running.reload();
		for (const roles of ['[gateway]', '[gateway, admin]']) {
			put(`{ gateway: { listen: 127.0.0.1:1 }, roles: ${roles} }`);
			running.reload();
		}
		expect(seen.map(({ needsRestart }) => needsRestart)).toEqual([['gateway.listen'], [], ['roles'], ['roles']]);
		running.stop();
	});

	it('a pipe is read once: a reload that would wait for its writer forever is rejected', () => {
		rmSync(file, { force: true });
		execFileSync('sh', ['-c', 'mkfifo "$0"', file]);
		const writer = spawn('sh', ['-c', `echo 'data_dir: one' > "$0"`, file]);
		const running = watch();
		expect(running.current.data_dir).toContain('one');
		expect(running.reload()).toBe(false);
		clock.tick(3);
		expect(lines.at(-1)?.fields).toMatchObject({ problems: [{ message: expect.stringContaining('cannot be reloaded') as string }] });
		running.stop();
		writer.kill();
	});
});
