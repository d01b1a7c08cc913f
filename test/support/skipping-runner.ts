import { type RunnerTask, type RunnerTestSuite, TestRunner } from 'vitest';
import { skipsMissingPrograms } from './system-programs.ts';

declare module 'vitest' {
	interface TaskMeta {
		/** Reason why the test, or the suite's hook, could not run: the missing program and its package. */
		lack?: string;
	}
}

/** Skips tests that failed because a program of the system is missing, if installing packages is disabled. */
export default class SkippingRunner extends TestRunner {
	override onAfterRunTask(test: RunnerTask): void {
		super.onAfterRunTask(test);
		skipLacking(test);
	}

	override async onAfterRunSuite(suite: RunnerTestSuite): Promise<void> {
		await super.onAfterRunSuite(suite);
		skipLacking(suite);
	}
}

function skipLacking(task: RunnerTask): void {
	const missing = task.result?.errors?.find(({ name }) => name === 'MissingProgramError');
	if (missing === undefined || !skipsMissingPrograms(process.env)) return;
	task.mode = 'skip';
	task.meta.lack = missing.message;
	task.result = { state: 'skip' };
}
