import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import { projects } from './test/projects.ts';

/** Configuration of the projects. `--mode long` runs only the tests that take minutes. */
export default defineConfig(({ mode }) => ({
	test: {
		environment: 'node',
		runner: 'test/support/skipping-runner.ts',
		maxWorkers: availableParallelism(),
		// Limits for tests that hang: on a busy machine, or under `nice`, processes take many seconds to start.
		testTimeout: mode === 'long' ? 600_000 : 60_000,
		hookTimeout: 60_000,
		// Polled conditions take longer on a busy machine.
		expect: { poll: { timeout: 10_000 } },
		projects: projects
			.filter(({ runs }) => (mode === 'long') === (runs === 'long'))
			.map(({ name, include, exclude, isIsolated, hasServers }) => ({
				extends: true as const,
				test: {
					name,
					include: [...include],
					exclude: [...configDefaults.exclude, ...exclude],
					isolate: isIsolated,
					globalSetup: hasServers ? ['test/support/shared-servers.ts'] : [],
					setupFiles: isIsolated ? [] : ['test/support/leak-guard.ts'],
				},
			})),
	},
}));
