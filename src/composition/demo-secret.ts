/** The demo client's secret in a private file of the data directory: each start shows it, and `tollgate token --demo` uses it. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const fileName = 'demo-secret';

/** @returns undefined where none is kept. */
export function readDemoSecret(dataDir: string): string | undefined {
	try {
		return /^[\w-]{32,}$/.exec(readFileSync(join(dataDir, fileName), 'utf8').trim())?.[0];
	} catch {
		return undefined;
	}
}

export function keepDemoSecret(dataDir: string, secret: string): void {
	mkdirSync(dataDir, { recursive: true, mode: 0o700 });
	const file = join(dataDir, fileName);
	const draft = `${file}.new`;
	// A file that is there would keep its mode.
	rmSync(draft, { force: true });
	writeFileSync(draft, `${secret}\n`, { mode: 0o600, flag: 'wx' });
	renameSync(draft, file);
}
