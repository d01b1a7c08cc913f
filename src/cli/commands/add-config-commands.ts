import type { Command } from 'commander';
import type * as configCommand from '../config-command.ts';
import type { CliEnvironment, RunTask } from '../environment.ts';
import { type ConfigFlag, configFlag, jsonFlag, readConfigFlag } from './command-options.ts';

type ConfigFlags = ConfigFlag & { readonly json?: true };
type ConfigTasks = Pick<typeof configCommand, 'runConfigCheck' | 'runConfigPrint' | 'runConfigSchema'>;
type ConfigTask = ConfigTasks[keyof ConfigTasks];

export function addConfigCommands(program: Command, run: RunTask): void {
	const config = program
		.command('config')
		.description('Check and show the configuration.')
		.addHelpText('after', '\nExample:\n  tollgate config check --config tollgate.yaml');
	const act = (choose: (tasks: ConfigTasks) => ConfigTask) => (flags: ConfigFlags) =>
		run(async (environment) => runTask(choose(await import('../config-command.ts')), flags, environment));
	config
		.command('check')
		.description('Validate the file. Errors show file, line, column and the path of the field.')
		.addOption(configFlag())
		.addOption(jsonFlag())
		.addHelpText('after', '\nExample:\n  tollgate config check --config tollgate.yaml')
		.action(act((tasks) => tasks.runConfigCheck));
	config
		.command('print')
		.description('Print the active configuration with defaults, secrets redacted.')
		.addOption(configFlag())
		.addOption(jsonFlag())
		.addHelpText('after', '\nExample:\n  tollgate config print --config tollgate.yaml --json')
		.action(act((tasks) => tasks.runConfigPrint));
	config
		.command('schema')
		.description('Print the JSON Schema of the configuration file.')
		.addOption(jsonFlag())
		.addHelpText('after', '\nExample:\n  tollgate config schema > tollgate.schema.json')
		.action(act((tasks) => tasks.runConfigSchema));
}

async function runTask(task: ConfigTask, flags: ConfigFlags, { stdout, stderr, env }: CliEnvironment): Promise<number> {
	const written: Promise<void>[] = [];
	const options: configCommand.ConfigCommandOptions = { ...readConfigFlag(flags), json: flags.json === true, env };
	const exitCode = await task(options, {
		stdout: (text) => void written.push(stdout.write(text)),
		stderr: (text) => void written.push(stderr.write(text)),
	});
	await Promise.all(written);
	return exitCode;
}
