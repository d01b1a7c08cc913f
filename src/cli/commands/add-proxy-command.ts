import { type Command, Option } from 'commander';
import type { ListenAddress } from '../../config/listen.ts';
import type { RunTask } from '../environment.ts';
import { gatewayFlag, integerWithin, listenAddress, readGatewayFlag, words } from './command-options.ts';

interface ProxyFlags {
	readonly listen: ListenAddress;
	readonly gateway?: URL;
	readonly allowHost?: readonly string[];
	readonly demo?: true;
	readonly timeoutSeconds: number;
}

const notes = `
The proxy replaces the credential of each request with an access token. It needs the
variables of tollgate token: GATEWAY_CLIENT_ID, GATEWAY_CLIENT_SECRET, GATEWAY_TOKEN_ENDPOINT
and optionally GATEWAY_SCOPE.

Example:
  tollgate proxy --listen 127.0.0.1:8786 --gateway https://llm.example.com`;

export function addProxyCommand(program: Command, run: RunTask): void {
	program
		.command('proxy')
		.description('Forward requests to the gateway with a fresh access token, for programs that take only a fixed API key.')
		.addOption(
			new Option('--listen <host:port>', 'address to listen on')
				.default({ host: '127.0.0.1', port: 8786 }, '127.0.0.1:8786')
				.argParser(listenAddress),
		)
		.addOption(gatewayFlag())
		.addOption(
			new Option('--allow-host <names>', 'accepted host names besides loopback names, separated by commas').argParser((text) =>
				words(text).map((name) => name.toLowerCase()),
			),
		)
		.option('--demo', 'use the client of the demo in this directory; only GATEWAY_SCOPE is read')
		.addOption(new Option('--timeout-seconds <seconds>', 'time limit of a token request').default(10).argParser(integerWithin(1, 600)))
		.addHelpText('after', notes)
		.action((flags: ProxyFlags) =>
			run(async (environment) => {
				const { runProxy } = await import('../proxy/run-proxy.ts');
				const options = {
					listen: flags.listen,
					gateway: readGatewayFlag(flags, environment.env),
					allowedHosts: flags.allowHost ?? [],
					timeoutSeconds: flags.timeoutSeconds,
				};
				if (flags.demo !== true) return runProxy(options, environment);
				const env = { ...environment.env, ...(await environment.operations.demoCredentials()) };
				return runProxy(options, { ...environment, env });
			}),
		);
}
