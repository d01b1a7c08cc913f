/** Setup of projects whose files share a process: a file that leaves the process changed fails, so that no other file can depend on it. */
import { afterAll } from 'vitest';

const methodsOf = (owner: object, prefix: string): [string, unknown][] =>
	Object.entries(owner)
		.filter(([, value]) => typeof value === 'function')
		.map(([name, value]) => [`${prefix}.${name}`, value as unknown]);

/** Process state that a test may replace or leave behind, by name. */
function readProcess(): Map<string, unknown> {
	const globals = Object.getOwnPropertyNames(globalThis)
		// Excludes names under which packages and the test runner keep shared state.
		.filter((name) => !name.startsWith('__'))
		.flatMap((name): [string, unknown][] => {
			const value: unknown = Object.getOwnPropertyDescriptor(globalThis, name)?.value;
			return [[name, typeof value === 'function' ? value : name in globalThis]];
		});
	return new Map([
		...globals,
		...methodsOf(console, 'console'),
		...Object.entries(process.env).map(([name, value]): [string, unknown] => [`process.env.${name}`, value]),
		['process.cwd()', process.cwd()],
		['process.exitCode', process.exitCode],
		['process.exit', process.exit],
		['process.stdout.write', process.stdout.write],
		['process.stderr.write', process.stderr.write],
		['Date.now', Date.now],
		['Math.random', Math.random],
		['performance.now', performance.now],
	]);
}

const before = readProcess();

afterAll(() => {
	const after = readProcess();
	const changed = [...new Set([...before.keys(), ...after.keys()])].filter((name) => before.get(name) !== after.get(name));
	if (changed.length > 0) throw new Error(`the file leaves the process changed: ${changed.join(', ')}`);
});
