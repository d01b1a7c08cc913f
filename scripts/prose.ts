/**
 * `[PATH]`: checks pages, comments, names and titles of tests against the language rules, in a file, a folder or everything. `--list` never
 * fails; `--figures` measures.
 */
import { parseArgs } from 'node:util';
import { measure } from './prose/figures.ts';
import { findAll } from './prose/find-all.ts';

const { values, positionals } = parseArgs({
	options: { list: { type: 'boolean' }, figures: { type: 'boolean' } },
	allowPositionals: true,
});

if (values.figures === true) {
	const { guideSentences, meanWords, maxWords, comments, headlessComments, retiredIdentifiers } = measure();
	const share = ((100 * headlessComments) / Math.max(1, comments)).toFixed(1);
	console.log(`guides: ${guideSentences} sentences, ${meanWords.toFixed(1)} words on average, ${maxWords} in the longest`);
	console.log(`comments: ${comments}, ${headlessComments} begin with a headless clause (${share} %)`);
	console.log(`identifiers with "told" in src: ${retiredIdentifiers}`);
} else {
	const findings = findAll(positionals[0]);
	for (const { file, line, rule, found, write } of findings) console.log(`${file}:${line} ${rule}: ${found} → ${write}`);
	const counts = Object.entries(Object.groupBy(findings, ({ rule }) => rule)).map(([rule, of]) => `${rule} ${of.length}`);
	console.log(`${findings.length} findings${counts.length > 0 ? `: ${counts.join(', ')}` : ''}`);
	if (values.list !== true && findings.length > 0) process.exitCode = 1;
}
