import { type Command, Option } from 'commander';
import type { RunTask } from '../environment.ts';
import { integerWithin } from './command-options.ts';

interface TokenFlags {
	readonly cache?: true;
	readonly refresh?: true;
	readonly demo?: true;
	readonly timeoutSeconds: number;
}

const notes = `
Environment:
  GATEWAY_CLIENT_ID       client id
  GATEWAY_CLIENT_SECRET   client secret
  GATEWAY_TOKEN_ENDPOINT  full address of the token endpoint
  GATEWAY_SCOPE           optional; space-separated scopes

Exit codes:
  0  the access token was printed, and nothing else, on standard output
  1  a variable is missing, or the command line is wrong
  2  the request failed: no connection, timeout, or a status other than 200
  3  the response cannot be parsed or has no access_token

Example:
  TOKEN=$(tollgate token --cache)
  TOKEN=$(tollgate token --demo)`;

export function addTokenCommand(program: Command, run: RunTask): void {
	program
		.command('token')
		.description('Print an access token for the gateway (also installed as gateway-token).')
		.option('--cache', 'keep the token in a private file and reuse it for 3000 s')
		.option('--refresh', 'like --cache, but fetch a new token first: use it after a 401')
		.option('--demo', 'use the client of the demo in this directory; only GATEWAY_SCOPE is read')
		.addOption(new Option('--timeout-seconds <seconds>', 'time limit of the request').default(10).argParser(integerWithin(1, 600)))
		.addHelpText('after', notes)
		.action((flags: TokenFlags) =>
			run(async (environment) => {
				const { runToken } = await import('../token/run-token.ts');
				const shouldRefresh = flags.refresh === true;
				const isDemo = flags.demo === true;
				const canCache = flags.cache === true || shouldRefresh;
				const options = { canCache, shouldRefresh, timeoutSeconds: flags.timeoutSeconds, isDemo };
				if (!isDemo) return runToken(options, environment);
				const env = { ...environment.env, ...(await environment.operations.demoCredentials()) };
				return runToken(options, { ...environment, env });
			}),
		);
}
