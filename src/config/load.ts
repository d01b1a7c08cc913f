/** Finds, reads and validates the configuration. No other code reads the environment or these files. */
import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Environment } from './defaults.ts';
import { fitToSchema } from './fit.ts';
import { ConfigError, ProblemList } from './problem.ts';
import { isRecord } from './raw.ts';
import type { Config } from './schema.ts';
import { validate } from './validate.ts';
import { readYaml } from './yaml-source.ts';

const maxConfigBytes = 1_048_576;
const maxSecretBytes = 65_536;

export interface LoadOptions {
	/** The file named by `--config`. By default `TOLLGATE_CONFIG`, then `tollgate.yaml` if it exists, then no file. */
	readonly configPath?: string | undefined;
	readonly env?: Environment;
	readonly workingDirectory?: string;
}

export interface LoadedConfig {
	readonly config: Config;
	/** Absolute path; null when there is no file, so that every setting has its default. */
	readonly file: string | null;
	/** The configuration file and every `*_file` that it names, absolute. */
	readonly files: readonly string[];
	/** True if the file contains nothing, not even `{}`, so that every setting has its default. */
	readonly isEmpty: boolean;
	/** Providers that the file itself names, including built-in ones. */
	readonly namedProviders: readonly string[];
}

/** @throws ConfigError with every problem. */
export function loadConfig({ configPath, env = process.env, workingDirectory = process.cwd() }: LoadOptions = {}): LoadedConfig {
	const file = findFile(configPath, env, workingDirectory);
	if (file === null) return parseConfig('', { file: null, env });
	const content = readText(file, maxConfigBytes);
	if ('problem' in content) {
		throw new ConfigError([{ file, line: null, column: null, path: '', message: content.problem }], [file]);
	}
	return parseConfig(content.text, { file, env });
}

/**
 * Parses and validates the text of a configuration file; `*_file` paths are relative to the file's directory.
 * @throws ConfigError with every problem.
 */
export function parseConfig(text: string, { file, env }: { file: string | null; env: Environment }): LoadedConfig {
	const files = file === null ? [] : [file];
	const source = readYaml(text, file ?? '', env);
	if ('syntaxErrors' in source) throw new ConfigError(source.syntaxErrors, files);
	const problems = file === null ? new ProblemList(null, new Map()) : source.problems;
	const value = source.value ?? {};
	if (!isRecord(value)) {
		problems.add([], 'must be a mapping of settings');
		throw new ConfigError(problems.sorted, files);
	}
	const fitted = fitToSchema(value, {
		interpolated: source.interpolated,
		problems,
		readSecret(name) {
			const secretFile = resolve(file === null ? '.' : dirname(file), name);
			files.push(secretFile);
			return readSecret(secretFile);
		},
	});
	const config = validate(fitted, env, problems);
	if (problems.sorted.length > 0) throw new ConfigError(problems.sorted, files);
	const named = fitted['providers'];
	return { config, file, files, isEmpty: (source.value ?? null) === null, namedProviders: isRecord(named) ? Object.keys(named) : [] };
}

function findFile(configPath: string | undefined, env: Environment, workingDirectory: string): string | null {
	const named = configPath ?? (env['TOLLGATE_CONFIG'] === '' ? undefined : env['TOLLGATE_CONFIG']);
	if (named !== undefined) return resolve(workingDirectory, named);
	const defaults = resolve(workingDirectory, 'tollgate.yaml');
	return existsSync(defaults) ? defaults : null;
}

/** Returns the file's text without the newline that editors and `echo` append. */
function readSecret(file: string): { text: string } | { problem: string } {
	const content = readText(file, maxSecretBytes);
	if ('problem' in content) return { problem: `names ${file}, which ${content.problem}` };
	const text = content.text.replace(/\r?\n$/, '');
	return text === '' ? { problem: `${file} is empty` } : { text };
}

const fileProblems: ReadonlyMap<string, string> = new Map([
	['ENOENT', 'does not exist'],
	['EISDIR', 'is a directory, not a file'],
	['EACCES', 'cannot be read: permission denied'],
]);

function readText(file: string, maxBytes: number): { text: string } | { problem: string } {
	let bytes: Buffer;
	try {
		bytes = readAtMost(file, maxBytes + 1);
	} catch (cause) {
		const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown cause';
		return { problem: fileProblems.get(code) ?? `cannot be read (${code})` };
	}
	if (bytes.length > maxBytes) return { problem: `is larger than ${maxBytes} bytes` };
	try {
		return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
	} catch {
		return { problem: 'is not UTF-8 text' };
	}
}

function readAtMost(file: string, maxBytes: number): Buffer {
	const descriptor = openSync(file, 'r');
	try {
		const buffer = Buffer.alloc(maxBytes);
		let length = 0;
		for (;;) {
			const count = readSync(descriptor, buffer, length, maxBytes - length, null);
			length += count;
			if (count === 0 || length === maxBytes) return buffer.subarray(0, length);
		}
	} finally {
		closeSync(descriptor);
	}
}
