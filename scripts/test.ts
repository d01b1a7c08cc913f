/** `npm test`: the checks, then the tests (or those whose path contains an argument). A check counts as one test in the last line. */
import { setup as installSystemPrograms } from '../test/support/system-programs.ts';
import { runChecks } from './checks.ts';
import { runTests } from './run-tests.ts';

installSystemPrograms();
const checks = await runChecks();
const { passed, failed, skipped, unsteady, lacking } = await runTests(process.argv.slice(2));
process.exitCode = checks.failed + failed > 0 ? 1 : 0;
for (const [reason, names] of Object.entries(lacking)) {
	console.log([`\nskipped, because ${reason}`, ...names].join('\n  '));
}
if (unsteady.length > 0) {
	console.log(['\nunsteady, failed and passed by itself at a second try:', ...unsteady].join('\n  '));
}
const ofSkipped = skipped > 0 ? `, ${skipped} skipped` : '';
console.log(`\n${checks.passed + passed} passed, ${checks.failed + failed} failed${ofSkipped}`);
process.exit();
