/** `tollgate config check|print|schema`. Exit code 0 success, 1 usage or configuration error. */
import { jsonSchema } from '../config/json-schema.ts';
import { type LoadedConfig, type LoadOptions, loadConfig } from '../config/load.ts';
import { ConfigError, formatProblems } from '../config/problem.ts';
import { redactedConfig, redactedYaml } from '../config/redacted-config.ts';
import { configNotes, configWarnings } from '../config/warnings.ts';

export interface ConfigCommandOptions extends LoadOptions {
	readonly json?: boolean;
}

export interface CommandOutput {
	stdout(text: string): void;
	stderr(text: string): void;
}

/** Reports whether the configuration is valid, and which of its settings are probably not intended. */
export async function runConfigCheck(options: ConfigCommandOptions, output: CommandOutput): Promise<number> {
	return withConfig(options, output, ({ config, file }) => {
		const warnings = configWarnings(config);
		const notes = configNotes(config);
		if (options.json === true) {
			output.stdout(json({ ok: true, file, warnings, notes }));
			return;
		}
		output.stdout(`ok: ${file ?? '(no file, defaults only)'}\n`);
		for (const warning of warnings) output.stdout(`warning: ${warning}\n`);
		for (const note of notes) output.stdout(`note: ${note}\n`);
	});
}

/** Prints the current configuration, defaults and variables resolved, secrets redacted. */
export async function runConfigPrint(options: ConfigCommandOptions, output: CommandOutput): Promise<number> {
	return withConfig(options, output, ({ config }) => {
		output.stdout(options.json === true ? json(redactedConfig(config)) : redactedYaml(config));
	});
}

/** Prints the JSON Schema of the configuration file. Needs no configuration. */
export async function runConfigSchema(_options: ConfigCommandOptions, output: CommandOutput): Promise<number> {
	output.stdout(json(jsonSchema()));
	return 0;
}

function withConfig(options: ConfigCommandOptions, output: CommandOutput, use: (loaded: LoadedConfig) => void): number {
	let loaded: LoadedConfig;
	try {
		loaded = loadConfig(options);
	} catch (cause) {
		if (!(cause instanceof ConfigError)) throw cause;
		if (options.json === true) output.stdout(json({ ok: false, problems: cause.problems }));
		output.stderr(`${formatProblems(cause.problems)}\n`);
		return 1;
	}
	use(loaded);
	return 0;
}

function json(value: unknown): string {
	return `${JSON.stringify(value, null, '\t')}\n`;
}
