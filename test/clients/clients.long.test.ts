import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runProcess } from '../support/processes.ts';
import type { MatrixCell } from './matrix.ts';

it('client programs work with each vendor’s model', { timeout: 3_600_000 }, async () => {
	// npm and pip find their registries by variables of the machine.
	const environment = Object.fromEntries(Object.entries(process.env).map(([name, value = '']) => [name, value]));
	const { stdout, stderr } = await runProcess(process.execPath, [join(import.meta.dirname, 'run.ts'), '--json'], { env: environment });
	if (!stdout.startsWith('[')) throw new Error(stderr);
	const cells = JSON.parse(stdout) as MatrixCell[];
	expect(cells.length).toBeGreaterThan(200);
	expect(cells.filter(({ result }) => result === 'failed')).toEqual([]);
});
