import { styleText } from 'node:util';
import { Argument, type Command } from 'commander';
import { type DoctorCheck, type DoctorOptions, doctorDeps, type RunTask } from '../environment.ts';
import { canStyle, formatTable } from '../format-table.ts';
import { type ConfigFlag, configFlag, jsonFlag, readConfigFlag } from './command-options.ts';

export function addMigrateCommand(program: Command, run: RunTask): void {
	program
		.command('migrate')
		.description('Migrate the PostgreSQL schema, as a start does. Run it as a user with DDL permission.')
		.addOption(configFlag())
		.addHelpText('after', '\nExample:\n  tollgate migrate --config tollgate.yaml')
		.action((flags: ConfigFlag) =>
			run(async (environment) => {
				const deps = await environment.operations.migrate(readConfigFlag(flags));
				const lines = deps.map(({ part, fromVersion, toVersion }) =>
					fromVersion === toVersion ? `${part}: version ${toVersion}, up to date` : `${part}: from version ${fromVersion} to ${toVersion}`,
				);
				await environment.stdout.write(
					`${lines.join('\n') || 'stores.records is sqlite: its files are brought up to date when they are opened'}\n`,
				);
				return 0;
			}),
		);
}

export function addDoctorCommand(program: Command, run: RunTask): void {
	program
		.command('doctor')
		.description('Check the configuration, the stores, the issuer and the providers; exit 2 when a check fails.')
		.addArgument(new Argument('[part]', 'check only this: whether ledger entries, sums and counters agree').choices(doctorDeps))
		.addOption(configFlag())
		.addOption(jsonFlag())
		.addHelpText('after', '\nExamples:\n  tollgate doctor --config tollgate.yaml\n  tollgate doctor ledger --config tollgate.yaml')
		.action((part: DoctorOptions['part'], flags: ConfigFlag & { readonly json?: true }) =>
			run(async (environment) => {
				const checks = await environment.operations.doctor({ ...readConfigFlag(flags), ...(part !== undefined && { part }) });
				await environment.stdout.write(flags.json ? formatJson(checks) : formatChecks(checks, canStyle(environment)));
				return checks.every(({ isOk }) => isOk) ? 0 : 2;
			}),
		);
}

function formatJson(checks: readonly DoctorCheck[]): string {
	const rows = checks.map(({ name, isOk, detail }) => ({ name, ok: isOk, detail }));
	return `${JSON.stringify(rows, null, 2)}\n`;
}

function formatChecks(checks: readonly DoctorCheck[], hasStyle: boolean): string {
	const table = formatTable(
		['RESULT', 'CHECK', 'DETAIL'],
		checks.map(({ name, isOk, detail }) => [isOk ? 'ok' : 'FAILED', name, detail]),
		hasStyle,
	);
	return hasStyle ? table.replace(/^FAILED/gm, (word) => styleText('red', word, { validateStream: false })) : table;
}
