import { type Command, InvalidArgumentError, Option } from 'commander';
import type { RoleName } from '../../core/handler.ts';
import { type LogFormat, type LogLevel, logLevels, type RunTask, type StartOptions } from '../environment.ts';
import { type ConfigFlag, configFlag, integerWithin, listOf, logFormatFlag, readConfigFlag } from './command-options.ts';

const roleNames: readonly RoleName[] = ['edge', 'gateway', 'admin', 'identity', 'simulator'];

interface StartFlags extends ConfigFlag {
	readonly roles?: RoleName[];
	readonly demo?: true;
	readonly logLevel?: LogLevel;
	readonly logFormat?: LogFormat;
}

export function addStartCommand(program: Command, run: RunTask): void {
	program
		.command('start')
		.description('Start the configured roles and serve until SIGTERM or SIGINT.')
		.addOption(configFlag())
		.addOption(
			new Option('--roles <names>', `roles to start, instead of the configured ones: ${roleNames.join(', ')}`).argParser(listOf(roleNames)),
		)
		.option('--demo', 'start every role with a demo team, client and providers; a configuration file takes precedence')
		.addOption(new Option('--log-level <level>', 'minimum level of log lines').choices(logLevels))
		.addOption(logFormatFlag())
		.addHelpText('after', '\nExamples:\n  tollgate start --demo\n  tollgate start --config tollgate.yaml --roles edge,gateway')
		.action((flags: StartFlags) => run(({ operations }) => operations.start(readFlags(flags))));
}

function readFlags(flags: StartFlags): StartOptions {
	return {
		...readConfigFlag(flags),
		isDemo: flags.demo === true,
		...(flags.roles && { roles: flags.roles }),
		...(flags.logLevel && { logLevel: flags.logLevel }),
		...(flags.logFormat && { logFormat: flags.logFormat }),
	};
}

interface SimulateFlags {
	readonly listen: string;
	readonly intervalMs: number;
	readonly logFormat?: LogFormat;
}

export function addSimulateCommand(program: Command, run: RunTask): void {
	program
		.command('simulate')
		.description('Serve fake providers, for trials and tests without a provider key.')
		.addOption(new Option('--listen <host:port>', 'address to listen on').default('127.0.0.1:8790').argParser(readAddress))
		.addOption(
			new Option('--interval-ms <milliseconds>', 'pause between two events of a stream').default(20).argParser(integerWithin(0, 60_000)),
		)
		.addOption(logFormatFlag())
		.addHelpText('after', '\nExample:\n  tollgate simulate --listen 127.0.0.1:8790 --interval-ms 0')
		.action((flags: SimulateFlags) => run(({ operations }) => operations.simulate(flags)));
}

function readAddress(text: string): string {
	const port = /^(?:\[[0-9A-Fa-f:.]+\]|[^\s:[\]]+):(\d{1,5})$/.exec(text)?.[1];
	if (port === undefined || Number(port) > 65_535) throw new InvalidArgumentError('It must be host:port, such as 127.0.0.1:8790.');
	return text;
}
