import { Command, CommanderError } from 'commander';
import { addResourceCommands } from './admin/add-resource-commands.ts';
import { addAccessCommand } from './commands/add-access-command.ts';
import { addClientCommands } from './commands/add-client-commands.ts';
import { addConfigCommands } from './commands/add-config-commands.ts';
import { addConnectCommand } from './commands/add-connect-command.ts';
import { addExplainCommand } from './commands/add-explain-command.ts';
import { addDoctorCommand, addMigrateCommand } from './commands/add-maintenance-commands.ts';
import { addProxyCommand } from './commands/add-proxy-command.ts';
import { addReplayCommand } from './commands/add-replay-command.ts';
import { addSimulateCommand, addStartCommand } from './commands/add-server-commands.ts';
import { addTokenCommand } from './commands/add-token-command.ts';
import { addWebhookCommands } from './commands/add-webhook-commands.ts';
import { describeFailure } from './describe-failure.ts';
import type { CliEnvironment, RunTask } from './environment.ts';

export interface ProgramDeps {
	readonly version: string;
	readonly run: RunTask;
	writeOut(text: string): void;
	writeErr(text: string): void;
}

export function createProgram(deps: ProgramDeps): Command {
	const program = new Command('tollgate')
		.description('LLM gateway: OAuth 2.0 at the edge, OpenAI and Anthropic formats, any provider.')
		.version(deps.version, '--version', 'print the version')
		.helpOption('-h, --help', 'print this help')
		.configureOutput({
			writeOut: deps.writeOut,
			writeErr: deps.writeErr,
			getOutHelpWidth: () => 100,
			getErrHelpWidth: () => 100,
			outputError: (text, write) => write(text.replace(/^error: /, 'tollgate: ')),
		})
		.configureHelp({ showGlobalOptions: false })
		.showHelpAfterError('Run it with --help for its options.')
		.exitOverride()
		.addHelpText(
			'after',
			'\nExit codes: 0 success, 1 usage or configuration error, 2 runtime failure, 3 `replay --fail-if` is met.\n\nExample:\n  tollgate start --demo',
		);
	addStartCommand(program, deps.run);
	addTokenCommand(program, deps.run);
	addProxyCommand(program, deps.run);
	addConnectCommand(program, deps.run);
	addSimulateCommand(program, deps.run);
	addConfigCommands(program, deps.run);
	addClientCommands(program, deps.run);
	addResourceCommands(program, deps.run);
	addWebhookCommands(program, deps.run);
	addExplainCommand(program, deps.run);
	addReplayCommand(program, deps.run);
	addAccessCommand(program, deps.run);
	addMigrateCommand(program, deps.run);
	addDoctorCommand(program, deps.run);
	return program;
}

/** Runs any command line through the full parser; see `runCli`. */
export async function runProgram(args: readonly string[], environment: CliEnvironment): Promise<number> {
	const written: Promise<void>[] = [];
	let exitCode = 0;
	const program = createProgram({
		version: environment.version,
		run: async (task) => {
			exitCode = await task(environment);
		},
		writeOut: (text) => written.push(environment.stdout.write(text)),
		writeErr: (text) => written.push(environment.stderr.write(text)),
	});
	try {
		await program.parseAsync(args, { from: 'user' });
		await Promise.all(written);
		return exitCode;
	} catch (error) {
		if (error instanceof CommanderError) {
			await Promise.allSettled(written);
			return error.exitCode;
		}
		const failure = describeFailure(error);
		await environment.stderr.write(`tollgate: ${failure.message}\n`).catch(() => undefined);
		return failure.exitCode;
	}
}
