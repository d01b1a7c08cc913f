import type { Command } from 'commander';
import type { RunTask } from '../environment.ts';
import { type ConfigFlag, configFlag, readConfigFlag } from './command-options.ts';

export function addMigrateCommand(program: Command, run: RunTask): void {
	program
		.command('migrate')
		.description('Bring the PostgreSQL schema up to date, as a start does; for a user who may change it.')
		.addOption(configFlag())
		.addHelpText('after', '\nExample:\n  tollgate migrate --config tollgate.yaml')
		.action((flags: ConfigFlag) =>
			run(async (environment) => {
				const parts = await environment.operations.migrate(readConfigFlag(flags));
				const lines = parts.map(({ part, fromVersion, toVersion }) =>
					fromVersion === toVersion ? `${part}: version ${toVersion}, up to date` : `${part}: from version ${fromVersion} to ${toVersion}`,
				);
				await environment.stdout.write(
					`${lines.join('\n') || 'stores.records is sqlite: its files are brought up to date when they are opened'}\n`,
				);
				return 0;
			}),
		);
}
