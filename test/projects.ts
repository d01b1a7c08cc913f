/** Projects of the test runner and their files. `test/house/projects.test.ts` shows that each file belongs to exactly one. */

export interface Project {
	readonly name: 'unit' | 'stores' | 'conformance' | 'system' | 'long';
	readonly include: readonly string[];
	readonly exclude: readonly string[];
	/** True if each file runs in its own process. Files of other projects share a process, its modules and what is started in it. */
	readonly isIsolated: boolean;
	/** True if its files may share a Redis and a PostgreSQL (`test/support/shared-servers.ts`). */
	readonly hasServers: boolean;
	/** `npm test` runs the quick projects, `npm run test:all` the quick and the slow, `npm run test:long` the long. */
	readonly runs: 'quick' | 'slow' | 'long';
}

const long = ['**/*.long.test.ts'];

/** Tests of `src` that need modules of their own: this one imports the tests of other files, with other defaults. */
const slowFiles: readonly string[] = ['src/io/http1/server/http-server-without-fast-path.test.ts'];

/** House tests that only read files. */
const readingFiles: readonly string[] = ['test/architecture/tree.test.ts', 'test/house/{docs,lockfile,projects,prose}.test.ts'];

export const projects: readonly Project[] = [
	{
		name: 'unit',
		include: ['{src,simulator,content-filter,test/support}/**/*.test.ts', ...readingFiles],
		exclude: ['src/stores/**', ...slowFiles, ...long],
		isIsolated: false,
		hasServers: false,
		runs: 'quick',
	},
	{
		name: 'stores',
		include: ['src/stores/**/*.test.ts'],
		exclude: [...slowFiles, ...long],
		isIsolated: true,
		hasServers: true,
		runs: 'quick',
	},
	{ name: 'conformance', include: ['test/conformance/**/*.test.ts'], exclude: long, isIsolated: false, hasServers: true, runs: 'quick' },
	{
		name: 'system',
		include: ['test/{accounting,anomaly,architecture,house}/**/*.test.ts', ...slowFiles],
		exclude: [...readingFiles, ...long],
		isIsolated: true,
		hasServers: true,
		runs: 'slow',
	},
	{ name: 'long', include: long, exclude: [], isIsolated: true, hasServers: true, runs: 'long' },
];
