import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** Files by path, each with the lint rule that must report it; files without a rule are valid. */
const planted: readonly (readonly [path: string, text: string, rule?: string])[] = [
	['src/core/now.ts', 'export const now = (): number => Date.now();', 'no-restricted-globals'],
	['src/policy/today.ts', 'export const today = (): object => new Date();', 'no-restricted-globals'],
	['src/wire/elapsed.ts', 'export const elapsed = (): number => performance.now();', 'no-restricted-globals'],
	['src/policy/platform.ts', 'export const platform = (): string => process.platform;', 'no-restricted-globals'],
	['src/wire/chance.ts', 'export const chance = (): number => Math.random();', 'no-restricted-properties'],
	['src/wire/now.test.ts', 'export const now = (): number => Date.now();'],
	['src/io/clock.ts', 'export const now = (): number => Date.now();'],
	['src/io/variable.ts', "export const variable = (): string | undefined => process.env['HOME'];", 'no-process-env'],
	['src/config/variable.ts', "export const variable = (): string | undefined => process.env['HOME'];"],
	['src/io/print.ts', "export const print = (): void => console.log('x');", 'no-console'],
	['src/cli/print.ts', "export const print = (): void => console.log('x');"],
	['src/io/default.ts', 'export default 1;', 'no-default-export'],
	['src/io/anything.ts', 'export const anything = (x: any): boolean => x === 1;', 'no-explicit-any'],
	['src/io/sure.ts', 'export const sure = (x: string | undefined): string => x!;', 'no-non-null-assertion'],
	['src/io/floating.ts', 'export const floating = (x: () => Promise<void>): void => { x(); };', 'no-floating-promises'],
	['src/io/misused.ts', 'export const misused = (x: Promise<boolean>): number => { if (x) return 1; return 0; };', 'no-misused-promises'],
	['src/io/unsafe.ts', "export const unsafe = (): string => JSON.parse('{}').x;", 'no-unsafe-member-access'],
	['src/io/some.ts', "export const some = (x: 'a' | 'b'): void => { switch (x) { case 'a': break; } };", 'switch-exhaustiveness-check'],
	['src/io/later.ts', '// TODO later\nexport const later = 1;', 'no-warning-comments'],
	['src/io/silenced.ts', '// @ts-ignore\nexport const silenced = 1;', 'ban-ts-comment'],
	['src/stores/shape.ts', 'export const shape = (x: unknown): string => x as string;', 'no-unsafe-type-assertion'],
	['src/io/shape.ts', 'export const shape = (x: unknown): string => x as string;'],
	['src/io/camelCase.ts', 'export const camelCase = 1;', 'filename-case'],
	[
		'src/io/mock.test.ts',
		"import { expect, test, vi } from 'vitest';\nvi.mock('./clock.ts');\ntest('x', () => expect(1).toBe(1));",
		'no-restricted-vi-methods',
	],
	['src/io/idle.test.ts', "import { test } from 'vitest';\ntest('x', () => {});", 'expect-expect'],
	['src/io/only.test.ts', "import { expect, test } from 'vitest';\ntest.only('x', () => expect(1).toBe(1));", 'no-focused-tests'],
];

test('each planted offence is reported by its rule, and nothing else is', () => {
	const tree = mkdtempSync(join(tmpdir(), 'tollgate-lint-'));
	onTestFinished(() => rmSync(tree, { recursive: true }));
	for (const [path, text] of planted) {
		mkdirSync(join(tree, dirname(path)), { recursive: true });
		writeFileSync(join(tree, path), `${text}\n`);
	}
	for (const file of ['.oxlintrc.json', 'tsconfig.json', 'package.json']) cpSync(join(root, file), join(tree, file));
	symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));

	const { stdout } = spawnSync(process.execPath, [join(root, 'node_modules/oxlint/bin/oxlint'), '-f', 'json', 'src'], {
		cwd: tree,
		encoding: 'utf8',
	});
	const { diagnostics } = JSON.parse(stdout) as { diagnostics: { filename: string; code: string }[] };
	const found = new Set(diagnostics.map(({ filename, code }) => `${filename} ${/\((.*)\)/.exec(code)?.[1] ?? code}`));
	// Drops a duplicate: an unsafe member access is also an unsafe return.
	found.delete('src/io/unsafe.ts no-unsafe-return');
	const expected = planted.flatMap(([path, , rule]) => (rule === undefined ? [] : [`${path} ${rule}`]));
	expect([...found].toSorted()).toEqual(expected.toSorted());
});
