import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type AllowList, type Comparison, compare, findGrowth, serialize } from './allow-list.ts';
import { listFiles, pages, read, root, sources } from './files.ts';
import { type Finding, findInFile } from './findings.ts';
import { findDeadLinks, readPages } from './links.ts';

const allowListFile = join(import.meta.dirname, 'allowed.json');

export function formatFinding({ file, line, rule, found, write }: Finding): string {
	return `${file}:${line} ${rule}: ${found} → ${write}`;
}

/** Findings in the files of the repository; `path` limits them to one file or folder. */
export function findAll(path = ''): Finding[] {
	const isWanted = (file: string): boolean => file === path || path === '' || file.startsWith(`${path.replace(/\/$/, '')}/`);
	const inFiles = listFiles([...pages, ...sources])
		.filter(isWanted)
		.flatMap((file) => findInFile(file, read(file)));
	const dead = findDeadLinks(readPages()).filter(({ file }) => isWanted(file));
	return [
		...inFiles,
		...dead.map(({ file, line, href }): Finding => ({ file, line, rule: 'link', found: href, write: 'a page and heading that exist' })),
	];
}

function readAllowList(): AllowList {
	return JSON.parse(readFileSync(allowListFile, 'utf8')) as AllowList;
}

function compareAll(): Comparison {
	return compare(findAll(), readAllowList(), (file) => existsSync(join(root, file)));
}

/** The list of the last commit; outside a repository, the current one. */
function readCommittedAllowList(): AllowList {
	const { status, stdout } = spawnSync('git', ['show', `HEAD:${relative(root, allowListFile)}`], { cwd: root, encoding: 'utf8' });
	return status === 0 ? (JSON.parse(stdout) as AllowList) : readAllowList();
}

/** Lowers the allow-list to the number of findings; no entry gets higher. */
export function shrinkAllowList(): void {
	const { canShrink, shrunk } = compareAll();
	if (canShrink) writeFileSync(allowListFile, serialize(shrunk));
}

/** Compares the repository with its allow-list and prints every difference. Returns true if there is none. */
export function checkProse(): boolean {
	const { excess, canShrink } = compareAll();
	for (const { file, rule, allowed, findings } of excess) {
		console.log(`${file}: ${findings.length} of rule "${rule}", allowed ${allowed}`);
		for (const finding of findings) console.log(`  ${formatFinding(finding)}`);
	}
	if (canShrink) console.log('The allow-list allows more than there is. Lower it: npm run check -- --shrink');
	const growth = findGrowth(readAllowList(), readCommittedAllowList());
	for (const rule of growth) console.log(`The allow-list allows more of rule "${rule}" than that of the last commit.`);
	return excess.length === 0 && !canShrink && growth.length === 0;
}
