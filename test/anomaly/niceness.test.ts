/** Process of low priority, without the right to raise it: it starts and serves, and its ledger writer has a lower priority. */
import { spawnSync } from 'node:child_process';
import { chownSync, readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { expect, test } from 'vitest';
import { planProduct, requestStatus, startPlan } from '../support/deployment.ts';
import { launcher } from '../support/processes.ts';

const nobody = 65_534;
const isRoot = process.getuid?.() === 0;
const asNobody = ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups'];
/** Fallback for a clone that other users cannot read. */
const withoutRight = ['setpriv', '--inh-caps=-sys_nice', '--bounding-set=-sys_nice'];

function unprivileged(): readonly string[] {
	if (!isRoot) return [];
	const { status } = spawnSync('env', [...asNobody, process.execPath, launcher, '--version']);
	return status === 0 ? asNobody : withoutRight;
}

/** Threads, by name, whose niceness differs from that of the process's first thread. */
function lowerThreads(pid: number): Map<string, number> {
	const threads = readdirSync(`/proc/${pid}/task`).map((id): [string, number] => {
		const name = readFileSync(`/proc/${pid}/task/${id}/comm`, 'utf8').trim();
		return [name, getPriority(Number(id))];
	});
	return new Map(threads.filter(([, niceness]) => niceness !== getPriority(pid)));
}

// A test of low priority cannot start a process of higher priority.
const levels = [6, 10, 19].filter((niceness) => niceness >= getPriority());

test.runIf(process.platform === 'linux').each(levels)('niceness %i, not root', async (niceness) => {
	const plan = await planProduct();
	const user = unprivileged();
	if (user === asNobody) chownSync(plan.directory, nobody, nobody);
	const steps = niceness - getPriority();
	const product = await startPlan(plan, { program: ['nice', '-n', String(steps), ...user, process.execPath, launcher] });
	expect(getPriority(product.pid)).toBe(niceness);
	expect(await requestStatus(product.gatewayUrl, await product.accessToken())).toBe(200);
	const lowered = [...lowerThreads(product.pid).values()];
	expect(lowered).toEqual(niceness === 19 ? [] : [Math.min(19, niceness + 5)]);
	expect(product.stderr).toBe('');
	product.child.kill('SIGTERM');
	expect(await product.ended).toEqual({ code: 0, signal: null });
});
