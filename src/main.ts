/** Arguments in, exit code out. A command's modules are loaded only when it runs, so that the token helper starts fast. */
import { readFileSync } from 'node:fs';
import { outputOf, runCli } from './cli/run-cli.ts';

const { version } = JSON.parse(readFileSync(new URL(import.meta.resolve('tollgate/package.json')), 'utf8')) as { version: string };

const stdout = outputOf(process.stdout);
const output = { isTerminal: stdout.isTty, write: (text: string) => stdout.write(text) };

process.exitCode = await runCli(process.argv.slice(2), {
	version,
	stdout,
	stderr: outputOf(process.stderr),
	env: process.env,
	operations: {
		start: async (options) => (await import('./composition/start.ts')).start(options, { version, ...output }),
		simulate: async (options) => (await import('./composition/start.ts')).simulate(options, output),
		demoCredentials: async () => (await import('./composition/demo-credentials.ts')).demoCredentials(process.env),
		openAdmin: async (options) => (await import('./composition/open-admin.ts')).openAdmin(options, process.env),
		openClients: async (options) => (await import('./composition/open-clients.ts')).openClients(options, process.env),
		migrate: async (options) => (await import('./composition/open-clients.ts')).migrate(options),
		doctor: async (options) => {
			if (options.part === 'ledger') return (await import('./composition/ledger-doctor.ts')).examineLedger(options);
			return (await import('./composition/doctor.ts')).examine(options);
		},
		testAccess: async (options) => (await import('./composition/test-access.ts')).testAccess(options),
		untilStopSignal: () =>
			new Promise((resolve) => {
				const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
				// Without a listener, the next signal has its default effect.
				const stop = (): void => {
					for (const signal of signals) process.off(signal, stop);
					resolve();
				};
				for (const signal of signals) process.on(signal, stop);
			}),
	},
});
