/** SIGHUP stops processes attached to a terminal, and the simulator; other processes reload their configuration (`hot-reload.test.ts`). */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { call, client, type Plan, planProduct, statusOf, untilReady } from '../support/deployment.ts';
import { isAlive, launcher, packageRoot, type Running, startProcess, systemPath } from '../support/processes.ts';
import { eventually, fetchAccessToken, freePort } from '../support/product.ts';
import { requireProgram } from '../support/system-programs.ts';

/** Programs by runtime: a new enough one runs the product itself; from an older one the launcher starts a second process. */
const programs = {
	'one process': { command: `'${process.execPath}' '${launcher}'`, env: {} },
	'the machine’s own Node': { command: `'${join(packageRoot, 'bin/tollgate')}'`, env: { PATH: systemPath } },
};

let script: string;
beforeAll(() => {
	script = join(requireProgram('script'), 'script');
});

/** Runs a shell command on a separate terminal, which closes when this process ends. */
function startOnTerminal(command: string, env: Record<string, string>): Running {
	return startProcess(script, ['--quiet', '--flush', '--return', '--command', command, '/dev/null'], { env });
}

/** Processes of the product, which are those that name its configuration. */
function processesOf({ configPath }: Plan): number[] {
	const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
	const isProduct = (id: string): boolean => {
		try {
			const [program = '', ...args] = readFileSync(`/proc/${id}/cmdline`, 'utf8').split('\0');
			return program.endsWith('node') && args.includes(configPath);
		} catch {
			return false;
		}
	};
	return ids.filter(isProduct).map(Number);
}

describe.runIf(process.platform === 'linux').each(Object.entries(programs))('on a terminal, %s', (_, { command, env }) => {
	const started = async (redirection = ''): Promise<{ plan: Plan; terminal: Running; productId: number }> => {
		const plan = await planProduct();
		onTestFinished(() => {
			for (const id of processesOf(plan)) process.kill(id, 'SIGKILL');
		});
		const terminal = startOnTerminal(`exec ${command} start --config '${plan.configPath}' ${redirection}`, env);
		await untilReady(plan.gatewayUrl, terminal);
		const productId =
			processesOf(plan)
				.toSorted((one, other) => one - other)
				.at(-1) ?? Number.NaN;
		return { plan, terminal, productId };
	};

	test.each(['', '< /dev/null', '> /dev/null'])('SIGHUP stops it in order: start %s', async (redirection) => {
		const { plan, terminal, productId } = await started(redirection);
		const stream = await call(plan.gatewayUrl, await fetchAccessToken(`${plan.identityUrl}/oauth2/token`, client), {
			model: 'gpt-sim-tokens-60-interval-10',
			isStreaming: true,
		});
		// Sent twice, as by a shell and the system.
		process.kill(productId, 'SIGHUP');
		await eventually('it shuts down', async () => ((await statusOf(`${plan.gatewayUrl}/readyz`)) === 200 ? undefined : true));
		process.kill(productId, 'SIGHUP');
		expect(await stream.text(), 'what is in flight goes on to its end').toContain('[DONE]');
		expect(await terminal.ended).toEqual({ code: 0, signal: null });
		expect(processesOf(plan)).toEqual([]);
	});

	test('nothing is left when the terminal closes', async () => {
		const { plan, terminal } = await started();
		const ids = processesOf(plan);
		expect(ids.length).toBeGreaterThan(0);
		terminal.child.kill('SIGKILL');
		await eventually('all have ended', () => (ids.some(isAlive) ? undefined : true), 10_000);
		expect(processesOf(plan)).toEqual([]);
		expect(await statusOf(plan.gatewayUrl)).toBe(0);
	});

	test('neither input nor output is the terminal: it stays when the terminal closes', async () => {
		const { plan, terminal, productId } = await started('< /dev/null > /dev/null');
		terminal.child.kill('SIGKILL');
		await terminal.ended;
		process.kill(productId, 'SIGHUP');
		expect(await statusOf(`${plan.gatewayUrl}/readyz`)).toBe(200);
		process.kill(productId, 'SIGTERM');
		await eventually('it has ended', () => (isAlive(productId) ? undefined : true), 10_000);
	});
});

test('SIGHUP stops the simulator, also without a terminal', async () => {
	const address = `127.0.0.1:${await freePort()}`;
	const simulator = startProcess(process.execPath, [launcher, 'simulate', '--listen', address]);
	await eventually('it listens', async () => ((await statusOf(`http://${address}/`)) === 200 ? true : undefined), 15_000);
	simulator.child.kill('SIGHUP');
	expect(await simulator.ended).toEqual({ code: 0, signal: null });
});
