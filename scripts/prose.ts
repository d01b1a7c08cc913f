/**
 * Checks pages, comments and names against the language rules. `--list [PATH]` prints all findings, also allowed ones; `--figures`
 * measures; `--shrink` lowers the allow-list to what is found.
 */
import { parseArgs } from 'node:util';
import { checkProse, findAll, formatFinding, shrinkAllowList } from './prose/check-prose.ts';
import { measure } from './prose/figures.ts';

const { values, positionals } = parseArgs({
	options: { list: { type: 'boolean' }, figures: { type: 'boolean' }, shrink: { type: 'boolean' } },
	allowPositionals: true,
});

if (values.figures === true) {
	const { guideSentences, meanWords, maxWords, comments, headlessComments, retiredIdentifiers } = measure();
	const share = ((100 * headlessComments) / Math.max(1, comments)).toFixed(1);
	console.log(`guides: ${guideSentences} sentences, ${meanWords.toFixed(1)} words on average, ${maxWords} in the longest`);
	console.log(`comments: ${comments}, ${headlessComments} begin with a headless clause (${share} %)`);
	console.log(`identifiers with "told" in src: ${retiredIdentifiers}`);
} else if (values.list === true) {
	const findings = findAll(positionals[0]);
	for (const finding of findings) console.log(formatFinding(finding));
	const counts = Object.entries(Object.groupBy(findings, ({ rule }) => rule)).map(([rule, of]) => `${rule} ${of.length}`);
	console.log(`${findings.length} findings${counts.length > 0 ? `: ${counts.join(', ')}` : ''}`);
} else {
	if (values.shrink === true) shrinkAllowList();
	process.exitCode = checkProse() ? 0 : 1;
}
