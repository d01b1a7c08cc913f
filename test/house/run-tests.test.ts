import { spawnSync } from 'node:child_process';
import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { TestCounts } from '../../scripts/run-tests.ts';
import { temporaryDirectory } from '../support/processes.ts';

const root = join(import.meta.dirname, '../..');

/** @param files name and body of the one test in each. */
function runTests(files: Readonly<Record<string, string>>): TestCounts {
	const directory = temporaryDirectory();
	symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
	for (const [name, body] of Object.entries(files)) {
		const marker = JSON.stringify(join(directory, `${name}-ran`));
		const lines = [
			`import { existsSync, writeFileSync } from 'node:fs';`,
			`import { beforeAll, expect, test } from 'vitest';`,
			`const isFirst = !existsSync(${marker});`,
			`writeFileSync(${marker}, '');`,
			`test('works', () => { ${body} });`,
		];
		writeFileSync(join(directory, `${name}.test.ts`), lines.join('\n'));
	}
	const script = `
		const { runTests } = await import(${JSON.stringify(join(root, 'scripts/run-tests.ts'))});
		console.log('\\n' + JSON.stringify(await runTests({ root: ${JSON.stringify(directory)} })));
		process.exit();`;
	const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { cwd: directory, encoding: 'utf8' });
	expect(existsSync(join(directory, `${Object.keys(files)[0]}-ran`))).toBe(true);
	return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as TestCounts;
}

test('a test that passes only at the second try has failed, and is named as unsteady', () => {
	const counts = runTests({ steady: 'expect(1).toBe(1)', once: 'expect(isFirst).toBe(false)', broken: 'expect(1).toBe(2)' });
	expect(counts).toEqual({ passed: 1, failed: 2, skipped: 0, unsteady: ['once.test.ts > works'], lacking: {} });
	const hook = `}); beforeAll(() => { expect(isFirst).toBe(false)`;
	expect(runTests({ hook })).toEqual({ passed: 0, failed: 1, skipped: 1, unsteady: ['hook.test.ts'], lacking: {} });
});

test('a counterexample to a property, a file that cannot be read and more than three files that fail have no second try', () => {
	expect(runTests({ property: `if (isFirst) throw new Error('Property failed after 3 tests')` })).toMatchObject({
		passed: 0,
		failed: 1,
		unsteady: [],
	});
	expect(runTests({ unread: `}); if (isFirst) throw new Error('no'); test('another', () => {` })).toMatchObject({
		failed: 1,
		unsteady: [],
	});
	const once = 'expect(isFirst).toBe(false)';
	expect(runTests({ a: once, b: once, c: once, d: once })).toMatchObject({ passed: 0, failed: 4, unsteady: [] });
});
