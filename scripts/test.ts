/** `npm test`: the checks, then the tests (or those whose path contains an argument). A check counts as one test in the last line. */
import { runChecks } from './checks.ts';
import { runTests } from './run-tests.ts';

const checks = await runChecks();
const { passed, failed, skipped, unsteady } = await runTests(process.argv.slice(2));
process.exitCode = checks.failed + failed > 0 ? 1 : 0;
if (unsteady.length > 0) {
	console.log(['\nunsteady, passed by itself at the second try:', ...unsteady].join('\n  '));
}
const ofSkipped = skipped > 0 ? `, ${skipped} skipped` : '';
console.log(`\n${checks.passed + passed} passed, ${checks.failed + failed} failed${ofSkipped}`);
process.exit();
