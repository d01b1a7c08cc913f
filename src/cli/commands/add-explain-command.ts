import { readFile } from 'node:fs/promises';
import { text as readStream } from 'node:stream/consumers';
import { type Command, Option } from 'commander';
import { clientDialectNames } from '../../core/dialect-name.ts';
import { requestAdmin } from '../admin/admin-request.ts';
import { pairs } from '../admin/fields.ts';
import { renderRecord } from '../admin/render-record.ts';
import type { Row } from '../admin/resource.ts';
import { withAdmin } from '../admin/run-resource.ts';
import { CommandFailure } from '../command-failure.ts';
import type { CliEnvironment, RunTask } from '../environment.ts';
import { canStyle } from '../format-table.ts';
import { type AdminFlags, addressFlag, configFlag, jsonFlag } from './command-options.ts';

interface ExplainFlags extends AdminFlags {
	readonly client?: string;
	readonly team?: string;
	readonly accessTokenFile?: string;
	readonly format: string;
	readonly body?: string;
	readonly headers?: Readonly<Record<string, string>>;
	readonly json?: true;
}

export function addExplainCommand(program: Command, run: RunTask): void {
	program
		.command('explain')
		.description('Explain a recorded request, or how a request would be handled. Does not call a provider and does not count.')
		.argument('[request-id]', 'a recorded request: `x-request-id` of its response')
		.option('--client <id>', 'client that sends the request')
		.option('--team <id>', 'or: any client of this registered team')
		.option('--access-token-file <file>', 'or: the client of the access token in this file; with --url only')
		.addOption(new Option('--format <format>', 'format of the body').choices(clientDialectNames).default(clientDialectNames[0]))
		.option('--body <file>', 'the request body; -: standard input')
		.addOption(new Option('--headers <pairs>', 'header fields as name=value, separated by commas').argParser(pairs))
		.addOption(addressFlag())
		.addOption(configFlag())
		.addOption(jsonFlag())
		.addHelpText(
			'after',
			'\nExample:\n  tollgate explain --client search-bot --body request.json\n  tollgate explain req_019a2b3c4d5e6f708192a3b4c5d6e7f8',
		)
		.action((id: string | undefined, flags: ExplainFlags) =>
			run((environment) => (id === undefined ? explainRequest(flags, environment) : explainRecorded(id, flags, environment))),
		);
}

async function explainRequest(flags: ExplainFlags, environment: CliEnvironment): Promise<number> {
	const { client, team, accessTokenFile, format, headers, body: bodyFile } = flags;
	if ([client, team, accessTokenFile].filter((one) => one !== undefined).length !== 1) {
		throw new CommandFailure(1, 'set exactly one of --client, --team and --access-token-file');
	}
	if (bodyFile === undefined) throw new CommandFailure(1, 'set --body, or name a recorded request');
	const body = {
		...(client !== undefined && { client_id: client }),
		...(team !== undefined && { team }),
		...(accessTokenFile !== undefined && { access_token: (await readGiven(accessTokenFile)).trim() }),
		format,
		body_text: await readGiven(bodyFile),
		...(headers !== undefined && { headers }),
	};
	const { body: explained } = await withAdmin(flags, environment, (api) => requestAdmin(api, { method: 'POST', path: '/explain', body }));
	return write(explained, flags, environment);
}

async function explainRecorded(id: string, flags: ExplainFlags, environment: CliEnvironment): Promise<number> {
	if ([flags.client, flags.team, flags.accessTokenFile, flags.body, flags.headers].some((one) => one !== undefined)) {
		throw new CommandFailure(1, 'a recorded request has its own client and body: omit these options');
	}
	const path = `/explain/${encodeURIComponent(id)}`;
	const { body } = await withAdmin(flags, environment, (api) => requestAdmin(api, { method: 'GET', path }));
	return write(body, flags, environment);
}

async function write(explained: Row, { json }: ExplainFlags, environment: CliEnvironment): Promise<number> {
	await environment.stdout.write(json ? `${JSON.stringify(explained, null, 2)}\n` : renderRecord(explained, canStyle(environment)));
	return 0;
}

async function readGiven(file: string): Promise<string> {
	try {
		return await (file === '-' ? readStream(process.stdin) : readFile(file, 'utf8'));
	} catch (cause) {
		throw new CommandFailure(1, `${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`);
	}
}
