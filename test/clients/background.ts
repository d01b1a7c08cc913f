import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { ClientContext } from './run-to-end.ts';

export const launcher = join(import.meta.dirname, '../../bin/tollgate');

/** Starts a command of the product that prints its address, and waits for it. */
export async function startBackground(
	args: readonly string[],
	{ home, gatewayUrl, credentials }: ClientContext,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
	const child = spawn(process.execPath, [launcher, ...args], {
		env: { PATH: process.env['PATH'], HOME: home, GATEWAY_URL: gatewayUrl, ...credentials },
		stdio: ['ignore', 'pipe', 'inherit'],
	});
	const exited = once(child, 'exit');
	const [text] = (await Promise.race([once(child.stdout, 'data'), exited.then(() => ['it ended'])])) as [Buffer | string];
	const url = /http:\S+/.exec(String(text))?.[0];
	if (url === undefined) throw new Error(`tollgate ${args.join(' ')} did not start: ${String(text)}`);
	return {
		url,
		stop: async () => {
			child.kill('SIGTERM');
			await exited;
		},
	};
}
