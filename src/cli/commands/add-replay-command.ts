import { type Command, InvalidArgumentError, Option } from 'commander';
import { loadConfig } from '../../config/load.ts';
import { redactedConfig } from '../../config/redacted-config.ts';
import { requestAdmin } from '../admin/admin-request.ts';
import { renderRecord } from '../admin/render-record.ts';
import type { Row } from '../admin/resource.ts';
import { withAdmin } from '../admin/run-resource.ts';
import type { CliEnvironment, RunTask } from '../environment.ts';
import { canStyle } from '../format-table.ts';
import { parseFailCondition } from '../replay/fail-condition.ts';
import { type AdminFlags, addressFlag, configFlag, jsonFlag, readConfigFlag } from './command-options.ts';

interface ReplayFlags extends AdminFlags {
	readonly from: string;
	readonly to: string;
	readonly failIf?: string;
	readonly json?: true;
}

/** Exit code if the condition is met, as of every difference that a command finds. */
const differenceFound = 3;

export function addReplayCommand(program: Command, run: RunTask): void {
	program
		.command('replay')
		.description(
			'Decide recorded requests again under a configuration, and report which would be rejected, admitted, rerouted or capped, and their cost. Writes nothing.',
		)
		.addOption(
			new Option('--from <time>', 'start of the requests, inclusive: RFC 3339, or a UTC day').argParser(timeText).makeOptionMandatory(),
		)
		.addOption(new Option('--to <time>', 'start of the requests, exclusive').argParser(timeText).makeOptionMandatory())
		.addOption(new Option('--fail-if <condition>', 'exit with code 3 if it is met, such as rejected>0.1%'))
		.addOption(configFlag())
		.addOption(addressFlag())
		.addOption(jsonFlag())
		.addHelpText('after', "\nExample:\n  tollgate replay --config new.yaml --from 2026-11-01 --to 2026-11-08 --fail-if 'rejected>0.1%'")
		.action((flags: ReplayFlags) => run((environment) => replay(flags, environment)));
}

async function replay(flags: ReplayFlags, environment: CliEnvironment): Promise<number> {
	const { from, to, failIf, json } = flags;
	const condition = failIf === undefined ? undefined : parseFailCondition(failIf);
	const body = { config_patch: patchOf(flags, environment), from, to };
	const { body: result } = await withAdmin(flags, environment, (api) => requestAdmin(api, { method: 'POST', path: '/replay', body }));
	await environment.stdout.write(json ? `${JSON.stringify(result, null, 2)}\n` : render(result, canStyle(environment)));
	if (condition?.isMet(result) !== true) return 0;
	await environment.stderr.write(`--fail-if ${failIf}: the condition is met\n`);
	return differenceFound;
}

/** Parts of a configuration on which decisions depend. Secrets are not among them, except those of providers, which are hidden. */
const policyParts = ['tiers', 'teams', 'routing', 'budgets', 'enable_budgets', 'providers', 'gateway'];

/** The configuration is that of the stores, unless a running product is asked to replay it. */
function patchOf(flags: ReplayFlags, { env }: CliEnvironment): Row {
	if (flags.url === undefined && (env['TOLLGATE_ADMIN_URL'] ?? '') === '') return {};
	const config = redactedConfig(loadConfig({ ...readConfigFlag(flags), env }).config);
	return Object.fromEntries(policyParts.filter((name) => Object.hasOwn(config, name)).map((name) => [name, config[name]]));
}

function render({ teams, examples: _examples, ...sums }: Row, hasStyle: boolean): string {
	const rows = Array.isArray(teams) ? teams.map(({ rejected_by_code: _codes, ...team }: Row) => team) : [];
	return renderRecord({ ...sums, teams: rows }, hasStyle);
}

function timeText(text: string): string {
	if (/^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d))?$/.test(text) && !Number.isNaN(Date.parse(text))) return text;
	throw new InvalidArgumentError('It must be a time such as 2026-11-21T14:00:00Z, or a UTC day such as 2026-11-21.');
}
