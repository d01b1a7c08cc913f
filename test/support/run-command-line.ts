import type { AdminApi, CliEnvironment, ClientOperations, CliOperations } from '../../src/cli/environment.ts';
import { runCli } from '../../src/cli/run-cli.ts';

export const clients: ClientOperations = {
	create: ({ id = 'random' }) => Promise.resolve({ id, secret: 'the-secret' }),
	list: () =>
		Promise.resolve([
			{
				id: 'search',
				name: 'Search service',
				scopes: ['invoke', 'admin'],
				team: 'red',
				secrets: [{ hash: 'scrypt$x' }],
				isDisabled: false,
				canSetAttributes: false,
				createdAtMs: 0,
			},
		]),
	rotate: (id) => Promise.resolve(id === 'search' ? { secret: 'the-new-secret' } : undefined),
	delete: (id) => Promise.resolve(id === 'search'),
	close: () => Promise.resolve(),
};

export interface Outcome {
	code: number;
	out: string;
	err: string;
	/** Operations called, in order. */
	calls: unknown[];
}

/** Runs one command line, with operations that only record how they were called. */
export async function runCommandLine(
	line: string,
	given: Partial<CliOperations & { clients: Partial<ClientOperations>; isTty: boolean; response: AdminApi['request'] }> = {},
): Promise<Outcome> {
	const outcome: Outcome = { code: -1, out: '', err: '', calls: [] };
	const record =
		<Result>(name: string, result: Result) =>
		(options: unknown): Promise<Result> => {
			outcome.calls.push([name, options]);
			return Promise.resolve(result);
		};
	const output = (key: 'out' | 'err') => ({
		isTty: given.isTty ?? false,
		write: (text: string) => {
			outcome[key] += text;
			return Promise.resolve();
		},
	});
	const environment: CliEnvironment = {
		version: '1.2.3',
		stdout: output('out'),
		stderr: output('err'),
		env: {},
		operations: {
			start: record('start', 0),
			simulate: record('simulate', 0),
			demoCredentials: () => {
				outcome.calls.push(['demoCredentials']);
				return Promise.reject(new Error('no demo'));
			},
			openClients: record('openClients', {
				...clients,
				create: async (input) => {
					outcome.calls.push(['create', input]);
					return clients.create(input);
				},
				close: () => {
					outcome.calls.push(['close']);
					return Promise.resolve();
				},
				...given.clients,
			} satisfies ClientOperations),
			testAccess: () => Promise.reject(new Error('no configuration')),
			openAdmin: record('openAdmin', {
				name: 'the API',
				request: (request) => {
					outcome.calls.push(['request', request]);
					return given.response?.(request) ?? Promise.resolve({ status: 200, headers: {}, text: '{}' });
				},
				close: () => {
					outcome.calls.push(['close']);
					return Promise.resolve();
				},
			} satisfies AdminApi),
			migrate: record('migrate', [
				{ part: 'records', fromVersion: 0, toVersion: 2 },
				{ part: 'ledger', fromVersion: 1, toVersion: 1 },
			]),
			doctor: record('doctor', [{ name: 'issuer', isOk: true, detail: 'key set read' }]),
			untilStopSignal: () => Promise.resolve(),
			...given,
		},
	};
	outcome.code = await runCli(line.split(' ').filter(Boolean), environment);
	return outcome;
}
