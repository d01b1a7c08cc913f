import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { styleText } from 'node:util';

const root = join(import.meta.dirname, '..');

/** Checks that a change must pass in addition to the tests: name and command. */
const checks: readonly (readonly [name: string, ...command: string[]])[] = [
	['types', 'tsc', '-p', '.'],
	['lint', 'oxlint'],
	['format', 'biome', 'check', '.'],
	['imports', 'node', 'scripts/check-imports.ts'],
	['unused', 'knip'],
	['prose', 'node', 'scripts/prose.ts'],
];

export interface CheckCounts {
	passed: number;
	failed: number;
}

/** Runs all checks in parallel; prints a line for each, and the output of those that fail. */
export async function runChecks(): Promise<CheckCounts> {
	const counts = { passed: 0, failed: 0 };
	await Promise.all(
		checks.map(async ([name, program = '', ...args]) => {
			const startedMs = performance.now();
			const { hasPassed, output } = await run(program, args);
			counts[hasPassed ? 'passed' : 'failed'] += 1;
			const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
			console.log(`${hasPassed ? styleText('green', '✓') : styleText('red', '×')} ${name} ${seconds} s`);
			if (!hasPassed) console.log(output.trimEnd());
		}),
	);
	return counts;
}

function run(program: string, args: readonly string[]): Promise<{ hasPassed: boolean; output: string }> {
	return new Promise((resolve) => {
		const path = [join(root, 'node_modules/.bin'), process.env['PATH']].join(delimiter);
		const child = spawn(program, args, { cwd: root, env: { ...process.env, PATH: path }, stdio: ['ignore', 'pipe', 'pipe'] });
		let output = '';
		for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
		child.on('error', (error) => resolve({ hasPassed: false, output: error.message }));
		child.on('close', (code) => resolve({ hasPassed: code === 0, output }));
	});
}
