import { Argument, type Command, Option } from 'commander';
import { type ClientProgramName, clientProgramNames } from '../connect/client-programs.ts';
import type { RunTask } from '../environment.ts';
import { gatewayFlag, gatewayUrl, jsonFlag, readGatewayFlag, words } from './command-options.ts';

interface ConnectFlags {
	readonly gateway?: URL;
	readonly proxy: URL;
	readonly models?: readonly string[];
	readonly write?: true;
	readonly file?: string;
	readonly json?: true;
}

const notes = `
The settings contain no secret. Claude Code and Codex CLI run tollgate token. opencode
takes only a fixed API key, and uses tollgate proxy.

Examples:
  tollgate connect claude-code --gateway https://llm.example.com
  tollgate connect codex --models gpt-5-mini --write`;

const localProxy = 'http://127.0.0.1:8786';

export function addConnectCommand(program: Command, run: RunTask): void {
	program
		.command('connect')
		.description('Print or write the settings with which a client program uses the gateway.')
		.addArgument(new Argument('<program>', 'client program').choices(clientProgramNames))
		.addOption(gatewayFlag())
		.addOption(new Option('--proxy <address>', 'URL of tollgate proxy').default(new URL(localProxy), localProxy).argParser(gatewayUrl))
		.addOption(new Option('--models <names>', 'models, separated by commas; Claude Code and Codex CLI take the first one').argParser(words))
		.option('--write', 'write the settings to the file; other settings are kept, and the earlier file is copied')
		.option('--file <path>', 'settings file; default: the settings of the user')
		.addOption(jsonFlag())
		.addHelpText('after', notes)
		.action((name: ClientProgramName, flags: ConnectFlags) =>
			run(async (environment) => {
				const { runConnect } = await import('../connect/run-connect.ts');
				return runConnect(
					{
						program: name,
						gateway: readGatewayFlag(flags, environment.env),
						proxy: flags.proxy,
						models: flags.models ?? [],
						...(flags.file !== undefined && { file: flags.file }),
						shouldWrite: flags.write === true,
						isJson: flags.json === true,
					},
					environment,
				);
			}),
		);
}
