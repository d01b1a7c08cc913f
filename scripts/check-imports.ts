import { checkImports } from './import-table.ts';

const { moduleCount, violations } = await checkImports(`${import.meta.dirname}/..`);
for (const violation of violations) console.log(violation);
console.log(`${moduleCount} modules, ${violations.length} forbidden imports`);
// Fails on an empty tree too: a checker that reads nothing finds nothing.
process.exitCode = violations.length > 0 || moduleCount === 0 ? 1 : 0;
