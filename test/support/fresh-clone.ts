import { spawnSync } from 'node:child_process';
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from './processes.ts';

/** Copies the files of a clone: every file that is tracked, or would be after a commit of all changes. */
export function copyTrackedFiles(target: string): void {
	const { stdout, status } = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
		cwd: packageRoot,
		encoding: 'utf8',
	});
	if (status !== 0) throw new Error('git ls-files does not work here: the copy of a clone cannot be made');
	for (const file of stdout.split('\0')) {
		if (file !== '' && existsSync(join(packageRoot, file))) cpSync(join(packageRoot, file), join(target, file), { verbatimSymlinks: true });
	}
}
