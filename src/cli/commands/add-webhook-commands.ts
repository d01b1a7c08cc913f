import { type Command, Option } from 'commander';
import { requestAdmin } from '../admin/admin-request.ts';
import { optionOf } from '../admin/fields.ts';
import { plainText } from '../admin/plain-text.ts';
import { renderRecord } from '../admin/render-record.ts';
import { listRecords, type RecordFlags, withAdmin } from '../admin/run-resource.ts';
import { deliveries } from '../admin/webhook-resources.ts';
import { CommandFailure } from '../command-failure.ts';
import type { CliEnvironment, RunTask } from '../environment.ts';
import { canStyle } from '../format-table.ts';
import { type AdminFlags, addressFlag, configFlag, integerWithin, jsonFlag } from './command-options.ts';

/** Adds the commands that the resource `webhook` has next to `list`. */
export function addWebhookCommands(program: Command, run: RunTask): void {
	const webhook = program.commands.find((command) => command.name() === 'webhook');
	if (webhook === undefined) throw new Error('the resource `webhook` has no commands');
	const { list, description } = deliveries;
	const log = webhook.command('deliveries').description(description).addOption(addressFlag()).addOption(configFlag()).addOption(jsonFlag());
	for (const filter of list?.filters ?? []) log.addOption(optionOf(filter));
	log
		.addOption(
			new Option('--limit <count>', `maximum number of entries; default: ${list?.defaultRows}`).argParser(integerWithin(1, 1_000_000)),
		)
		.addHelpText('after', `\nExample:\n  ${deliveries.example}`)
		.action((flags: RecordFlags) => run((environment) => listRecords(deliveries, flags, environment)));
	webhook
		.command('test')
		.description('Send the event `webhook.test` once and print the result. Exit code 2: it was not delivered.')
		.argument('<name>', 'name of the webhook')
		.addOption(addressFlag())
		.addOption(configFlag())
		.addOption(jsonFlag())
		.addHelpText('after', '\nExample:\n  tollgate webhook test ops')
		.action((name: string, flags: AdminFlags & { readonly json?: true }) => run((environment) => testWebhook(name, flags, environment)));
}

async function testWebhook(name: string, flags: AdminFlags & { readonly json?: true }, environment: CliEnvironment): Promise<number> {
	const path = `/webhooks/${encodeURIComponent(name)}/test`;
	const { body } = await withAdmin(flags, environment, (api) => requestAdmin(api, { method: 'POST', path }));
	await environment.stdout.write(flags.json ? `${JSON.stringify(body, null, 2)}\n` : renderRecord(body, canStyle(environment)));
	if (body['delivered'] === true) return 0;
	throw new CommandFailure(
		2,
		`the test event was not delivered: ${plainText(body['error'])}${body['status'] === null ? '' : ` ${plainText(body['status'])}`}`,
	);
}
