/** Merges changes into a configuration that is already valid, and validates the result like a file. */
import { fitToSchema } from './fit.ts';
import { ConfigError, ProblemList } from './problem.ts';
import { isRecord, type Raw } from './raw.ts';
import type { Config } from './schema.ts';
import { validate } from './validate.ts';

/**
 * Returns the configuration with a patch. Mappings are merged, everything else is replaced. Files and variables are not read.
 * @throws ConfigError with every problem.
 */
export function patchConfig(config: Config, patch: Raw): Config {
	const problems = new ProblemList(null, new Map());
	const fitted = fitToSchema(merge(withoutReadFiles(config), patch), {
		interpolated: new Set(),
		problems,
		readSecret: () => ({ problem: 'names a file, which a patch cannot read: omit it' }),
	});
	const patched = validate(fitted, {}, problems);
	if (problems.sorted.length > 0) throw new ConfigError(problems.sorted);
	return patched;
}

function merge(value: Raw, patch: Raw): Raw {
	const merged: Raw = { ...value };
	for (const [key, item] of Object.entries(patch)) {
		const before = Object.hasOwn(value, key) ? value[key] : undefined;
		merged[key] = isRecord(before) && isRecord(item) ? merge(before, item) : item;
	}
	return merged;
}

/** Removes the names of files whose content the configuration has. */
function withoutReadFiles(value: Raw): Raw {
	const copy: Raw = {};
	for (const [key, item] of Object.entries(value)) {
		const target = value[key.replace(/_file$/, '')];
		if (item === undefined || (key.endsWith('_file') && target !== undefined && target !== null)) continue;
		copy[key] = copied(item);
	}
	return copy;
}

function copied(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(copied);
	return isRecord(value) ? withoutReadFiles(value) : value;
}
