import { type Command, InvalidArgumentError, Option } from 'commander';
import type { LogFormat, RunTask } from '../environment.ts';
import { integerWithin, logFormatFlag } from './command-options.ts';

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
