import { readFile } from 'node:fs/promises';
import { text as readStream } from 'node:stream/consumers';
import { type Command, Option } from 'commander';
import { CommandFailure } from '../command-failure.ts';
import type { AccessTest, CliEnvironment, RunTask } from '../environment.ts';
import { type ConfigFlag, configFlag, jsonFlag, readConfigFlag } from './command-options.ts';

interface AccessFlags extends ConfigFlag {
	readonly token: string;
	readonly json?: true;
}

export function addAccessCommand(program: Command, run: RunTask): void {
	const access = program.command('access').description('Test the rules that grant scopes and teams to access tokens.');
	access
		.command('test')
		.description(
			'Show what the configuration permits to an access token: the rule that matches, scopes, team and permissions. Works offline and does not check the signature. Exit code 2: the token is rejected.',
		)
		.addOption(new Option('--token <file>', 'file with the access token, which is never printed; -: standard input').makeOptionMandatory())
		.addOption(configFlag())
		.addOption(jsonFlag())
		.addHelpText('after', '\nExample:\n  tollgate access test --token token.txt --config tollgate.yaml')
		.action((flags: AccessFlags) => run((environment) => testAccess(flags, environment)));
}

async function testAccess(flags: AccessFlags, { operations, stdout }: CliEnvironment): Promise<number> {
	const accessToken = (await readToken(flags.token)).trim();
	if (accessToken === '') throw new CommandFailure(1, `${flags.token} is empty`);
	const result = await operations.testAccess({ ...readConfigFlag(flags), accessToken });
	await stdout.write(flags.json ? `${JSON.stringify(result, null, 2)}\n` : renderResult(result));
	return result.accepted ? 0 : 2;
}

async function readToken(file: string): Promise<string> {
	try {
		return await (file === '-' ? readStream(process.stdin) : readFile(file, 'utf8'));
	} catch (cause) {
		throw new CommandFailure(1, `${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`);
	}
}

function renderResult(result: AccessTest): string {
	if (!result.accepted) return `The access token is rejected: ${result.reason}\n`;
	const { permitted, expired: isExpired, expires_at: expiresAt, rule, team } = result;
	const admin = [...permitted.admin, ...permitted.admin_teams.map((id) => `team ${id}`)];
	const rows = [
		['Issuer', result.issuer],
		['Client id', result.client_id],
		['Expires', isExpired ? `${expiresAt} (expired: the result is that of a valid token)` : expiresAt],
		['Rule', rule === null ? 'none matches' : `access.rules[${rule}] grants ${result.granted_by_rule.join(' ') || 'no scopes'}`],
		['Scopes', result.scopes.join(' ')],
		['Team', team === null ? 'by the client id' : `${team} (by the rule)`],
		['Inference', permitted.inference ? 'permitted' : 'not permitted'],
		['Admin API', admin.join(', ') || 'not permitted'],
		['Signature', 'not checked'],
	];
	return `${rows.map(([name = '', value]) => `${`${name}:`.padEnd(12)}${plain(value ?? '')}`).join('\n')}\n`;
}

/** Claims come from the token: control characters could change the terminal. */
function plain(text: string): string {
	return text.replace(/[^\x20-\x7e]/g, '?');
}
