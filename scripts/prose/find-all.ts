import { listFiles, pages, read, sources } from './files.ts';
import { type Finding, findInFile } from './findings.ts';
import { findDeadLinks, readPages } from './links.ts';

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
