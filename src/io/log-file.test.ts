import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { closeSync, constants, existsSync, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../test/support/until.ts';
import { LogFile } from './log-file.ts';
import { systemClock } from './system-clock.ts';

interface Pipe {
	/** The write end, which returns at once when the pipe is full. */
	readonly descriptor: number;
	read(): string;
	closeReader(): void;
}

function openPipe(): Pipe {
	const directory = mkdtempSync(join(tmpdir(), 'tollgate-log-'));
	const path = join(directory, 'pipe');
	execFileSync('sh', ['-c', 'mkfifo "$0"', path]);
	let reader: number | undefined = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
	const descriptor = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
	const closeReader = (): void => {
		if (reader !== undefined) closeSync(reader);
		reader = undefined;
	};
	onTestFinished(() => {
		closeReader();
		rmSync(directory, { recursive: true });
	});
	return {
		descriptor,
		closeReader,
		read() {
			const bytes = Buffer.alloc(1_000_000);
			try {
				return bytes.toString('latin1', 0, reader === undefined ? 0 : readSync(reader, bytes));
			} catch {
				return '';
			}
		},
	};
}

const line = (index: number): string => `{"index":${index},"text":"${'x'.repeat(1000)}"}\n`;

test('a reader that stalls and continues gets every line, in order and complete', async () => {
	const pipe = openPipe();
	const file = new LogFile(pipe.descriptor, systemClock, () => undefined);
	for (let index = 0; index < 2000; index++) file.write(line(index));
	await new Promise((resolve) => setTimeout(resolve, 50));
	let received = '';
	await until(() => {
		received += pipe.read();
		return received.length >= line(0).length * 2000 - 2000;
	});
	file.flush();
	received += pipe.read();
	expect(received).toBe(Array.from({ length: 2000 }, (_, index) => line(index)).join(''));
});

test('a reader that never continues delays the exit by about a second, and learns the number of lost lines when it does', async () => {
	const pipe = openPipe();
	const dropped: number[] = [];
	const file = new LogFile(pipe.descriptor, systemClock, (count) => dropped.push(count));
	for (let index = 0; index < 1000; index++) file.write(line(index));
	await new Promise((resolve) => setTimeout(resolve, 30));
	const startMs = performance.now();
	file.flush();
	await new Promise((resolve) => setTimeout(resolve, 30));
	expect(performance.now() - startMs).toBeLessThan(2500);
	expect(dropped).toEqual([]);
	const first = pipe.read();
	file.write('after\n');
	file.flush();
	// Half a line was written before the reader was abandoned.
	const lines = (first + pipe.read()).split('\n');
	expect(lines.at(-2)).toBe('after');
	expect(dropped[0]).toBeGreaterThan(900);
	expect(1000 - lines.filter((text) => text.endsWith('"}')).length).toBe(dropped[0]);
});

test('a missing reader causes no wait, no failure and no log entry', async () => {
	const pipe = openPipe();
	const dropped: number[] = [];
	const file = new LogFile(pipe.descriptor, systemClock, (count) => dropped.push(count));
	pipe.closeReader();
	for (let index = 0; index < 200; index++) file.write(line(index));
	await new Promise((resolve) => setTimeout(resolve, 30));
	const startMs = performance.now();
	file.flush();
	expect(performance.now() - startMs).toBeLessThan(200);
	expect(dropped).toEqual([]);
});

test.runIf(existsSync('/dev/full'))('a full disk does not keep a process from ending', async () => {
	const code = `
		const { createLogger } = await import(${JSON.stringify(new URL('./logger.ts', import.meta.url).href)});
		const { systemClock } = await import(${JSON.stringify(new URL('./system-clock.ts', import.meta.url).href)});
		const log = createLogger({ level: 'info', clock: systemClock });
		for (let index = 0; index < 1000; index++) log.info('request', { index, text: 'x'.repeat(200) });
		log.flush();`;
	const full = openSync('/dev/full', 'w');
	const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', full, 'pipe'] });
	onTestFinished(() => {
		closeSync(full);
		child.kill('SIGKILL');
	});
	let complaints = '';
	child.stderr?.setEncoding('utf8').on('data', (piece: string) => (complaints += piece));
	const ended = await new Promise((resolve) => child.once('exit', (exitCode, signal) => resolve(exitCode ?? signal)));
	expect([ended, complaints]).toEqual([0, '']);
});

test.each([
	['process.exit', 'process.exit(7);', 7],
	['an uncaught error', 'throw new Error();', 1],
])('%s loses no line that waits for a running write, and repeats none', (_name, end, exitCode) => {
	const directory = mkdtempSync(join(tmpdir(), 'tollgate-log-'));
	onTestFinished(() => rmSync(directory, { recursive: true }));
	const path = join(directory, 'log');
	const code = `
		const { LogFile } = await import(${JSON.stringify(new URL('./log-file.ts', import.meta.url).href)});
		const { systemClock } = await import(${JSON.stringify(new URL('./system-clock.ts', import.meta.url).href)});
		const file = new LogFile(${JSON.stringify(path)}, systemClock, () => undefined);
		const line = ${String(line)};
		for (let index = 0; index < 500; index++) file.write(line(index));
		${end}`;
	expect(spawnSync(process.execPath, ['--input-type=module', '-e', code]).status).toBe(exitCode);
	expect(readFileSync(path, 'utf8')).toBe(Array.from({ length: 500 }, (_, index) => line(index)).join(''));
});

test('a process that ends by itself while its reader pauses loses no line', async () => {
	const code = `
		const { LogFile } = await import(${JSON.stringify(new URL('./log-file.ts', import.meta.url).href)});
		const { systemClock } = await import(${JSON.stringify(new URL('./system-clock.ts', import.meta.url).href)});
		const file = new LogFile(1, systemClock, () => undefined);
		const line = ${String(line)};
		for (let index = 0; index < 500; index++) file.write(line(index));
		await new Promise((resolve) => setTimeout(resolve, 100));
		process.stderr.write('paused');
		file.flush();`;
	const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'pipe'] });
	onTestFinished(() => void child.kill('SIGKILL'));
	const ended = new Promise((resolve) => child.once('close', resolve));
	await new Promise((resolve) => child.stderr.once('data', resolve));
	let received = '';
	child.stdout.setEncoding('latin1').on('data', (piece: string) => (received += piece));
	await ended;
	expect(received).toBe(Array.from({ length: 500 }, (_, index) => line(index)).join(''));
});

test('lines go to a file in order, however many they are', async () => {
	const directory = mkdtempSync(join(tmpdir(), 'tollgate-log-'));
	onTestFinished(() => rmSync(directory, { recursive: true }));
	const path = join(directory, 'log');
	const file = new LogFile(path, systemClock, () => undefined);
	const expected = Array.from({ length: 5000 }, (_, index) => line(index)).join('');
	for (let index = 0; index < 5000; index++) file.write(line(index));
	file.flush();
	await until(() => readFileSync(path, 'utf8').length === expected.length);
	expect(readFileSync(path, 'utf8')).toBe(expected);
});
