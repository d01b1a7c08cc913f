import { runChecks } from './checks.ts';
import { shrinkAllowList } from './prose/check-prose.ts';

if (process.argv.includes('--shrink')) shrinkAllowList();
const { failed } = await runChecks();
process.exitCode = failed > 0 ? 1 : 0;
