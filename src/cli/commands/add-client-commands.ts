import { type Command, InvalidArgumentError, Option } from 'commander';
import { isScopeName, scopeNameRule } from '../../core/scope-names.ts';
import { maxTeamIdLength, teamIdPattern, teamIdRule } from '../../core/team.ts';
import { CommandFailure } from '../command-failure.ts';
import type { CliEnvironment, ClientOperations, ListedClient, NewClient, RunTask } from '../environment.ts';
import { canStyle, formatTable } from '../format-table.ts';
import { type AdminFlags, addressFlag, configFlag, integerWithin, jsonFlag, readAdminFlags, words } from './command-options.ts';

type ClientFlags = AdminFlags & { readonly json?: true };
type CreateFlags = ClientFlags & Omit<NewClient, 'name'> & { readonly name?: string };
type RotateFlags = ClientFlags & { readonly overlapSeconds: number };

const thirtyDaysInSeconds = 2_592_000;

export function addClientCommands(program: Command, run: RunTask): void {
	const client = program
		.command('client')
		.description('Manage OAuth clients of the embedded identity provider. Works while the server is running.')
		.addHelpText('after', '\nExample:\n  tollgate client create --name "Search service" --team search');
	client
		.command('create')
		.description('Create a client and print its id and secret. The secret is shown only once.')
		.addOption(new Option('--id <id>', 'id of the client; default: derived from the name').argParser(readClientId))
		.option('--name <name>', 'display name; default: the id, else client')
		.addOption(
			new Option('--scopes <names>', 'scopes of the client: invoke, admin, admin:read, admin:write, admin:secrets, admin:team:ID')
				.default(['invoke'], 'invoke')
				.argParser(readScopes),
		)
		.addOption(new Option('--team <id>', 'team of the client; created in tier sandbox if it does not exist').argParser(readTeamId))
		.option('--may-set-attributes', 'let the client set attributes of its requests with `x-gateway-attributes`')
		.addOption(addressFlag())
		.addOption(configFlag())
		.addOption(jsonFlag())
		.addHelpText('after', '\nExample:\n  tollgate client create --id search --scopes invoke --team search')
		.action((flags: CreateFlags) => run((environment) => createClient(flags, environment)));
	client
		.command('list')
		.description('List the clients without secrets.')
		.addOption(addressFlag())
		.addOption(configFlag())
		.addOption(jsonFlag())
		.addHelpText('after', '\nExample:\n  tollgate client list --json')
		.action((flags: ClientFlags) => run((environment) => listClients(flags, environment)));
	client
		.command('rotate')
		.description('Rotate the secret of a client and print the new one. The old one stays valid for --overlap-seconds.')
		.argument('<id>', 'id of the client')
		.addOption(
			new Option('--overlap-seconds <seconds>', 'how long the old secret stays valid')
				.default(3600)
				.argParser(integerWithin(0, thirtyDaysInSeconds)),
		)
		.addOption(addressFlag())
		.addOption(configFlag())
		.addOption(jsonFlag())
		.addHelpText('after', '\nExample:\n  tollgate client rotate search --overlap-seconds 86400')
		.action((id: string, flags: RotateFlags) => run((environment) => rotateClient(id, flags, environment)));
	client
		.command('delete')
		.description('Delete a client. Issued access tokens stay valid for inference until they expire.')
		.argument('<id>', 'id of the client')
		.addOption(addressFlag())
		.addOption(configFlag())
		.addHelpText('after', '\nExample:\n  tollgate client delete search')
		.action((id: string, flags: ClientFlags) => run((environment) => deleteClient(id, flags, environment)));
}

async function createClient(
	{ id, name, scopes, team, maySetAttributes, ...flags }: CreateFlags,
	environment: CliEnvironment,
): Promise<number> {
	const input: NewClient = {
		scopes,
		name: name ?? id ?? 'client',
		...(id !== undefined && { id }),
		...(team !== undefined && { team }),
		...(maySetAttributes === true && { maySetAttributes }),
	};
	const created = await withClients(flags, environment, (clients) => clients.create(input), true);
	if (created === 'id_taken') throw new CommandFailure(1, `client id ${input.id} is already used; see: tollgate client list`);
	await writeSecret(created.id, created.secret, flags, environment);
	if (created.isTeamNew === true) await environment.stderr.write(`Team ${team} did not exist: it was created in tier sandbox.\n`);
	if (created.teamFailure !== undefined) throw created.teamFailure;
	return 0;
}

async function listClients(flags: ClientFlags, environment: CliEnvironment): Promise<number> {
	const clients = await withClients(flags, environment, (operations) => operations.list());
	await environment.stdout.write(flags.json ? formatClientsAsJson(clients) : formatClients(clients, canStyle(environment)));
	return 0;
}

async function rotateClient(id: string, flags: RotateFlags, environment: CliEnvironment): Promise<number> {
	const rotated = await withClients(flags, environment, (clients) => clients.rotate(id, flags.overlapSeconds));
	if (rotated === undefined) throw unknownClient(id);
	await writeSecret(id, rotated.secret, flags, environment);
	return 0;
}

async function deleteClient(id: string, flags: ClientFlags, environment: CliEnvironment): Promise<number> {
	if (!(await withClients(flags, environment, (clients) => clients.delete(id)))) throw unknownClient(id);
	await environment.stderr.write(`client ${id} deleted\n`);
	return 0;
}

async function withClients<Result>(
	flags: AdminFlags,
	environment: CliEnvironment,
	task: (clients: ClientOperations) => Promise<Result>,
	canCreate = false,
): Promise<Result> {
	const clients = await environment.operations.openClients({ ...readAdminFlags(flags), ...(canCreate && { canCreate }) });
	try {
		return await task(clients);
	} finally {
		await clients.close();
	}
}

async function writeSecret(id: string, secret: string, flags: ClientFlags, { stdout, stderr }: CliEnvironment): Promise<void> {
	const lines = `client id:     ${id}\nclient secret: ${secret}\n`;
	await stdout.write(flags.json ? `${JSON.stringify({ client_id: id, client_secret: secret }, null, 2)}\n` : lines);
	await stderr.write('Store the secret now: it cannot be shown again.\n');
}

function formatClients(clients: readonly ListedClient[], hasStyle: boolean): string {
	const rows = clients.map((client) => [
		client.id,
		client.name,
		client.team ?? '',
		client.scopes.join(','),
		client.isDisabled ? 'disabled' : 'enabled',
		String(client.secrets.length),
		new Date(client.createdAtMs).toISOString(),
	]);
	return formatTable(['ID', 'NAME', 'TEAM', 'SCOPES', 'STATE', 'SECRETS', 'CREATED'], rows, hasStyle);
}

function formatClientsAsJson(clients: readonly ListedClient[]): string {
	const rows = clients.map((client) => ({
		client_id: client.id,
		name: client.name,
		team: client.team,
		scopes: client.scopes,
		disabled: client.isDisabled,
		may_set_attributes: client.canSetAttributes,
		secret_count: client.secrets.length,
		created_at: new Date(client.createdAtMs).toISOString(),
	}));
	return `${JSON.stringify(rows, null, 2)}\n`;
}

function unknownClient(id: string): CommandFailure {
	return new CommandFailure(1, `unknown client ${JSON.stringify(id)}; see: tollgate client list`);
}

function readTeamId(text: string): string {
	if (text.length > maxTeamIdLength || !teamIdPattern.test(text)) throw new InvalidArgumentError(`It ${teamIdRule}.`);
	return text;
}

function readScopes(text: string): string[] {
	const names = words(text);
	if (names.length === 0 || !names.every(isScopeName)) {
		throw new InvalidArgumentError(`Each scope ${scopeNameRule}.`);
	}
	return names;
}

function readClientId(text: string): string {
	if (!/^[A-Za-z0-9._~-]{1,128}$/.test(text)) throw new InvalidArgumentError('It must be 1 to 128 characters of A-Z a-z 0-9 . _ ~ -.');
	return text;
}
