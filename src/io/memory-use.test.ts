import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const run = promisify(execFile);

/** Options for a separate process, because the settings apply to the whole process. */
function optionsFor(code: string): string[] {
	const set = `import { setMemoryUse } from ${JSON.stringify(new URL('memory-use.ts', import.meta.url).href)}; setMemoryUse();`;
	return ['--expose-gc', '--allow-natives-syntax', '--input-type=module', '-e', `${set}\n${code}`];
}

async function inProcess(code: string): Promise<unknown> {
	const { stdout } = await run(process.execPath, optionsFor(code));
	return JSON.parse(stdout);
}

/**
 * Returns the number of tasks of each of the last young-generation collections in V8's trace. The first collections may precede the
 * settings.
 */
function lastTasksOf(trace: string): number[] {
	const tasks: number[] = [];
	let count = 0;
	for (const line of trace.split('\n')) {
		if (line.includes(' scavenge[')) {
			count++;
		} else if (/ms: Scavenge/.test(line)) {
			tasks.push(count);
			count = 0;
		}
	}
	return tasks.slice(-4);
}

describe('setMemoryUse', () => {
	it('lets a process that was idle accumulate twice as much garbage as live memory before a full collection, but not without bound', async () => {
		const collectedAt = await inProcess(`
			import { PerformanceObserver, constants } from 'node:perf_hooks';
			const megabyte = () => Array.from({ length: 16 }, () => new Array(8_192).fill(1.5));
			const turn = () => new Promise((done) => setImmediate(done));
			const alive = Array.from({ length: 30 }, megabyte);
			for (let i = 0; i < 120; i++) { megabyte(); await turn(); }
			await new Promise((done) => setTimeout(done, 500));
			gc();
			await turn();
			let garbage = 0;
			const collectedAt = [];
			new PerformanceObserver((list) => {
				for (const entry of list.getEntries()) if (entry.detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) collectedAt.push(garbage);
			}).observe({ entryTypes: ['gc'] });
			const held = [];
			for (; garbage < 200 && collectedAt.length === 0; garbage++) {
				// Old enough to outlive collections of what is young.
				held.push(megabyte());
				if (held.length > 10) held.shift();
				for (let i = 0; i < 12; i++) megabyte();
				await turn();
			}
			console.log(JSON.stringify([...collectedAt, alive.length]));
		`);
		expect(collectedAt).toEqual([expect.toSatisfy((megabytes: number) => megabytes > 60 && megabytes < 150), 30]);
	});

	it('allocates in the young generation, whatever outlived a burst', async () => {
		const young = await inProcess(`
			const call = (id) => ({ id, targets: [id, id + 1] });
			const burst = [];
			for (let i = 0; i < 400_000; i++) burst.push(call(i));
			burst.length = 0;
			let young = 0;
			for (let i = 0; i < 1_000; i++) if (%InYoungGeneration(call(i).targets)) young++;
			console.log(young);
		`);
		expect(young).toBeGreaterThan(900);
	});

	it.runIf(process.platform === 'linux')('collects the young generation in one thread on one core, otherwise in several', async () => {
		const code = `
			const held = [];
			for (let i = 0; i < 3_000_000; i++) {
				held.push({ i, list: [i] });
				if (held.length > 300_000) held.length = 0;
			}`;
		const options = ['--trace-gc', '--trace-parallel-scavenge', ...optionsFor(code)];
		const [, core = ''] = /^Cpus_allowed_list:\s*(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
		const alone = lastTasksOf((await run('taskset', ['-c', core, process.execPath, ...options])).stdout);
		// A trace line of another thread may follow that of its collection.
		expect(alone.filter((tasks) => tasks === 1).length).toBeGreaterThanOrEqual(3);
		if (availableParallelism() === 1) return;
		expect(Math.max(...lastTasksOf((await run(process.execPath, options)).stdout))).toBeGreaterThan(1);
	});

	it('gives small buffers of the runtime pieces of 16 KiB', async () => {
		const piece = await inProcess(`
			const { buffer: first } = Buffer.from('small');
			let next;
			do next = Buffer.from('small').buffer; while (next === first);
			console.log(next.byteLength);
		`);
		expect(piece).toBeGreaterThanOrEqual(16_384);
		expect(piece).toBeLessThan(17_000);
	});
});
