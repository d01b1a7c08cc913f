import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const run = promisify(execFile);

/** A process of its own, since what is set holds for all of a process. */
async function inProcess(code: string): Promise<unknown> {
	const set = `import { setMemoryUse } from ${JSON.stringify(new URL('memory-use.ts', import.meta.url).href)}; setMemoryUse();`;
	const { stdout } = await run(process.execPath, ['--expose-gc', '--allow-natives-syntax', '--input-type=module', '-e', `${set}\n${code}`]);
	return JSON.parse(stdout);
}

describe('setMemoryUse', () => {
	it('lets a process that had nothing to do leave twice as much garbage as is alive before all is collected, and not without bound', async () => {
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

	it('allocates among what is young, whatever outlived a burst', async () => {
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
