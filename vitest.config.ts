import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';

/** `--mode long` runs what takes minutes, and nothing else. */
export default defineConfig(({ mode }) => ({
	test: {
		environment: 'node',
		include:
			mode === 'long' ? ['{src,simulator,content-filter,test}/**/*.long.test.ts'] : ['{src,simulator,content-filter,test}/**/*.test.ts'],
		exclude: mode === 'long' ? configDefaults.exclude : [...configDefaults.exclude, '**/*.long.test.ts'],
		globalSetup: ['test/support/system-programs.ts'],
		runner: 'test/support/skipping-runner.ts',
		maxWorkers: availableParallelism(),
		// Ends for what hangs: on a busy machine, or under `nice`, processes take many seconds to start.
		testTimeout: mode === 'long' ? 600_000 : 60_000,
		hookTimeout: 60_000,
		// What comes true at last comes later on a busy machine.
		expect: { poll: { timeout: 10_000 } },
	},
}));
