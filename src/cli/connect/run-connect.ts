import { homedir } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { CliEnvironment } from '../environment.ts';
import { type ClientProgram, type ClientProgramName, clientPrograms, type ProgramSettings } from './client-programs.ts';
import { type ChangedSettings, changeJson } from './json-settings.ts';
import { changeToml, renderToml } from './toml-settings.ts';
import { type WrittenSettings, writeSettings } from './write-settings.ts';

export interface ConnectOptions {
	readonly program: ClientProgramName;
	readonly gateway: URL;
	readonly proxy: URL;
	readonly models: readonly string[];
	/** Settings file instead of the user's. */
	readonly file?: string;
	readonly shouldWrite: boolean;
	readonly isJson: boolean;
}

const variables = ['GATEWAY_CLIENT_ID', 'GATEWAY_CLIENT_SECRET', 'GATEWAY_TOKEN_ENDPOINT'];

/**
 * Prints or writes the settings with which a client program uses the gateway.
 * @returns the exit code. @throws CommandFailure
 */
export async function runConnect(options: ConnectOptions, { env, stdout, stderr }: CliEnvironment): Promise<number> {
	const program = clientPrograms[options.program];
	const settings = program.settings({
		gatewayUrl: withoutSlash(options.gateway),
		proxyUrl: withoutSlash(options.proxy),
		tokenCommand: [fileURLToPath(new URL('bin/tollgate', import.meta.resolve('tollgate/package.json'))), 'token'],
		models: options.models,
	});
	const file = options.file ?? program.settingsFile(env['HOME'] || homedir(), env);
	const text = 'json' in settings ? changeJson(undefined, settings.json).text : renderToml(settings.toml);
	const written = options.shouldWrite ? await writeSettings(file, (before) => change(before, settings)) : undefined;
	if (options.isJson) {
		const { isChanged = false, backup = null, replaced = [] } = written ?? {};
		const described = { program: options.program, file: written?.file ?? file, settings: text, needs_proxy: program.needsProxy, variables };
		await stdout.write(`${JSON.stringify({ ...described, written: isChanged, backup, replaced }, null, 2)}\n`);
		return 0;
	}
	await stdout.write(written === undefined ? text : describeWritten(written));
	await stderr.write(describeUse(program, options, written === undefined ? file : undefined));
	return 0;
}

function change(before: string | undefined, settings: ProgramSettings): ChangedSettings {
	return 'json' in settings ? changeJson(before, settings.json) : changeToml(before, settings.toml);
}

function describeWritten({ file, backup, isChanged, replaced }: WrittenSettings): string {
	if (!isChanged) return `${file} has these settings already\n`;
	return [
		`wrote ${file}`,
		...(backup === null ? [] : [`the earlier file is ${backup}`]),
		...(replaced.length === 0 ? [] : [`replaced: ${replaced.join(', ')}`]),
		'',
	].join('\n');
}

/** @param file name of the file that the printed settings belong to; undefined if they were written. */
function describeUse({ title, needsProxy }: ClientProgram, { program }: ConnectOptions, file: string | undefined): string {
	const shell = needsProxy ? 'tollgate proxy' : title;
	return [
		...(file === undefined ? [] : [`These settings belong in ${file}; \`tollgate connect ${program} --write\` writes them.`]),
		...(needsProxy ? [`${title} needs \`tollgate proxy\` to run.`] : []),
		`Set ${variables.join(', ')} in the shell that starts ${shell}.`,
		'',
	].join('\n');
}

function withoutSlash({ href }: URL): string {
	return href.replace(/\/+$/, '');
}
