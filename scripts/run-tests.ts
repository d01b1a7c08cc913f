import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { startVitest, type TestCase, type TestModule, type TestSuite, type Vitest } from 'vitest/node';

export interface TestCounts {
	passed: number;
	failed: number;
	skipped: number;
	/** Failed tests that passed with their file alone in a second run, or the file if its hook failed. */
	readonly unsteady: string[];
	/** Skipped tests that need a missing program of the system, by the reason. */
	readonly lacking: Readonly<Record<string, string[]>>;
}

const runner = join(import.meta.dirname, '../test/support/skipping-runner.ts');

/** Limit on failures: more of them are not due to chance. */
const maxSecondTries = 3;

export interface TestSelection {
	/** Substrings of paths; none selects all. */
	readonly filters?: readonly string[];
	/** Names of the test runner's projects; by default all of its configuration. */
	readonly projects?: readonly string[];
	/** Mode of the test runner's configuration: `long` selects the tests that take minutes. */
	readonly mode?: 'long';
	/** Folder of tests without a configuration. */
	readonly root?: string;
}

export async function runTests({ filters = [], projects, mode, root }: TestSelection): Promise<TestCounts> {
	const run = (paths: readonly string[]): Promise<Vitest> =>
		startVitest([...paths], {
			run: true,
			runner,
			...(projects !== undefined && { project: [...projects] }),
			...(mode !== undefined && { mode }),
			...(root !== undefined && { root, config: false }),
		});

	let vitest = await run(filters);
	const modules = vitest.state.getTestModules();
	const counts: TestCounts = { ...countResults(vitest, modules), unsteady: [], lacking: testsThatLackPrograms(modules) };
	const failed = modules.filter((module) => !module.ok());
	for (const module of failed.length <= maxSecondTries ? failed.filter(canBeChance) : []) {
		await vitest.close();
		vitest = await run([module.moduleId]);
		if (vitest.state.getTestModules().every((second) => second.ok())) counts.unsteady.push(...namesOfFailed(module));
	}
	await Promise.race([vitest.close(), setTimeout(10_000)]);
	return counts;
}

/** Returns false if a property has a counterexample or the file cannot be read, because a second run would fail too. */
function canBeChance(module: TestModule): boolean {
	const tests = [...module.children.allTests()];
	const errors = tests.flatMap((test) => test.result().errors ?? []);
	return tests.length > 0 && !errors.some(({ message }) => message.startsWith('Property failed after'));
}

function namesOfFailed(module: TestModule): string[] {
	const names = [...module.children.allTests('failed')].map(nameOf);
	return names.length > 0 ? names : [module.relativeModuleId];
}

function nameOf(test: TestCase): string {
	return `${test.module.relativeModuleId} > ${test.fullName}`;
}

function countResults({ state }: Vitest, modules: readonly TestModule[]): Pick<TestCounts, 'passed' | 'failed' | 'skipped'> {
	const counts = { passed: 0, failed: state.getUnhandledErrors().length + (modules.length === 0 ? 1 : 0), skipped: 0 };
	for (const module of modules) {
		for (const test of module.children.allTests()) {
			const { state: result } = test.result();
			counts[result === 'passed' || result === 'skipped' ? result : 'failed'] += 1;
		}
		// Counts unreadable files and failing hooks, which belong to no test.
		for (const suite of [module, ...module.children.allSuites()]) counts.failed += suite.errors().length;
	}
	return counts;
}

function testsThatLackPrograms(modules: readonly TestModule[]): Record<string, string[]> {
	const lacking: Record<string, string[]> = {};
	for (const test of modules.flatMap((module) => [...module.children.allTests('skipped')])) {
		const lack = lackOf(test);
		if (lack !== undefined) (lacking[lack] ??= []).push(nameOf(test));
	}
	for (const names of Object.values(lacking)) names.sort();
	return lacking;
}

/** Reads the reason from the test, or from the suite around it whose hook could not run. */
function lackOf(task: TestCase | TestSuite | TestModule): string | undefined {
	return task.meta().lack ?? (task.type === 'module' ? undefined : lackOf(task.parent));
}
