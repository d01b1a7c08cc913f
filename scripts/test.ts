/**
 * `npm test` runs the checks and the quick tests; `npm run test:all` adds the slow ones; `npm run test:long` runs only those that take
 * minutes. With substrings of paths it runs the tests whose path contains one of them, quick or slow. The last line counts each check as
 * one test.
 */
import { parseArgs } from 'node:util';
import { projects } from '../test/projects.ts';
import { installSystemPrograms } from '../test/support/system-programs.ts';
import { runChecks } from './checks.ts';
import { runTests, type TestSelection } from './run-tests.ts';

const { values, positionals: filters } = parseArgs({
	options: { all: { type: 'boolean', default: false }, long: { type: 'boolean', default: false } },
	allowPositionals: true,
});

function select(): TestSelection {
	if (values.long) return { filters, mode: 'long' };
	if (values.all || filters.length > 0) return { filters };
	return { projects: projects.filter(({ runs }) => runs === 'quick').map(({ name }) => name) };
}

installSystemPrograms(values.long ? 'long' : undefined);
const checks = values.long ? { passed: 0, failed: 0 } : await runChecks();
const { passed, failed, skipped, unsteady, lacking } = await runTests(select());
process.exitCode = checks.failed + failed > 0 ? 1 : 0;
for (const [reason, names] of Object.entries(lacking)) {
	console.log([`\nskipped, because ${reason}`, ...names].join('\n  '));
}
if (unsteady.length > 0) {
	console.log(['\nflaky, passed alone on the second try:', ...unsteady].join('\n  '));
}
const ofSkipped = skipped > 0 ? `, ${skipped} skipped` : '';
console.log(`\n${checks.passed + passed} passed, ${checks.failed + failed} failed${ofSkipped}`);
process.exit();
