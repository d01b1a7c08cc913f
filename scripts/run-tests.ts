import { setTimeout } from 'node:timers/promises';
import { startVitest, type TestModule, type Vitest } from 'vitest/node';

export interface TestCounts {
	passed: number;
	failed: number;
	skipped: number;
	/** Tests that failed among the others and passed with their file by itself; the file when a hook of it failed. */
	readonly unsteady: string[];
}

/** More than this are no chance. */
const mostSecondTries = 3;

/** @param filters parts of paths; none for all. @param root where tests are looked for; the project without it. */
export async function runTests(filters: readonly string[], root?: string): Promise<TestCounts> {
	const counts: TestCounts = { passed: 0, failed: 0, skipped: 0, unsteady: [] };
	const run = (paths: readonly string[]): Promise<Vitest> =>
		startVitest([...paths], { run: true, ...(root === undefined ? {} : { root, config: false }) });

	let vitest = await run(filters);
	const modules = vitest.state.getTestModules();
	if (modules.length === 0) counts.failed += 1;
	const failed = modules.filter((module) => !module.ok());
	const again = failed.length <= mostSecondTries ? failed.filter(mayBeChance) : [];
	countAll(counts, vitest, (module) => !again.includes(module));
	for (const module of again) {
		await vitest.close();
		vitest = await run([module.moduleId]);
		countAll(counts, vitest, () => true);
		if (vitest.state.getTestModules().every((second) => second.ok())) counts.unsteady.push(...namesOfFailed(module));
	}
	await Promise.race([vitest.close(), setTimeout(10_000)]);
	return counts;
}

/** Not where a property has a counterexample, or the file cannot be read: that is so at every try. */
function mayBeChance(module: TestModule): boolean {
	const tests = [...module.children.allTests()];
	const errors = tests.flatMap((test) => test.result().errors ?? []);
	return tests.length > 0 && !errors.some(({ message }) => message.startsWith('Property failed after'));
}

function namesOfFailed(module: TestModule): string[] {
	const names = [...module.children.allTests('failed')].map((test) => `${module.relativeModuleId} > ${test.fullName}`);
	return names.length > 0 ? names : [module.relativeModuleId];
}

function countAll(counts: TestCounts, { state }: Vitest, isCounted: (module: TestModule) => boolean): void {
	counts.failed += state.getUnhandledErrors().length;
	for (const module of state.getTestModules().filter(isCounted)) {
		for (const test of module.children.allTests()) {
			const { state: result } = test.result();
			counts[result === 'passed' || result === 'skipped' ? result : 'failed'] += 1;
		}
		// A file that cannot be read, and a hook that throws, fail outside any test.
		for (const suite of [module, ...module.children.allSuites()]) counts.failed += suite.errors().length;
	}
}
