/** `npm test`: the checks, then the tests (or those whose path contains an argument). A check counts as one test in the last line. */
import { startVitest, type TestModule } from 'vitest/node';
import { runChecks } from './checks.ts';

const counts = { ...(await runChecks()), skipped: 0 };

const vitest = await startVitest(process.argv.slice(2), { run: true });
for (const module of vitest.state.getTestModules()) count(module);
counts.failed += vitest.state.getUnhandledErrors().length;
if (vitest.state.getTestModules().length === 0) counts.failed += 1;

process.exitCode = counts.failed > 0 ? 1 : 0;
process.on('exit', () => {
	console.log(`\n${counts.passed} passed, ${counts.failed} failed${counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''}`);
});
await vitest.exit();

function count(module: TestModule): void {
	for (const test of module.children.allTests()) {
		const { state } = test.result();
		counts[state === 'passed' || state === 'skipped' ? state : 'failed'] += 1;
	}
	// A file that cannot be read, and a hook that throws, fail outside any test.
	for (const suite of [module, ...module.children.allSuites()]) counts.failed += suite.errors().length;
}
