import { styleText } from 'node:util';
import { Argument, type Command } from 'commander';
import { type DoctorCheck, type DoctorOptions, doctorParts, type RunTask } from '../environment.ts';
import { formatTable, mayStyle } from '../format-table.ts';
import { type ConfigFlag, configFlag, jsonFlag, readConfigFlag } from './command-options.ts';

export function addDoctorCommand(program: Command, run: RunTask): void {
	program
		.command('doctor')
		.description('Check the configuration, the stores, the issuer and the providers; exit 2 when a check fails.')
		.addArgument(new Argument('[part]', 'look at this alone: do the rows, sums and counters of the ledger agree?').choices(doctorParts))
		.addOption(configFlag())
		.addOption(jsonFlag())
		.addHelpText('after', '\nExamples:\n  tollgate doctor --config tollgate.yaml\n  tollgate doctor ledger --config tollgate.yaml')
		.action((part: DoctorOptions['part'], flags: ConfigFlag & { readonly json?: true }) =>
			run(async (environment) => {
				const checks = await environment.operations.doctor({ ...readConfigFlag(flags), ...(part !== undefined && { part }) });
				await environment.stdout.write(flags.json ? formatJson(checks) : formatChecks(checks, mayStyle(environment)));
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
