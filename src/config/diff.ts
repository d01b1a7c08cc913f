import { formatPath, isRecord, type Path } from './raw.ts';
import { redactedAt } from './redacted-config.ts';
import type { Config } from './schema.ts';
import { needsRestart } from './schema-tree.ts';

export interface ConfigChange {
	readonly path: string;
	/** Values as they may be logged; undefined where the setting did not exist. */
	readonly before: unknown;
	readonly after: unknown;
	readonly needsRestart: boolean;
}

/** Every setting that differs, secrets redacted. Lists that grew or shrank are one change. */
export function changesBetween(before: Config, after: Config): ConfigChange[] {
	return compare(before, after, []).map(({ path, before: old, after: current }) => ({
		path: formatPath(path),
		before: redactedAt(path, old),
		after: redactedAt(path, current),
		needsRestart: needsRestart(path),
	}));
}

interface Difference {
	readonly path: Path;
	readonly before: unknown;
	readonly after: unknown;
}

function compare(before: unknown, after: unknown, path: Path): Difference[] {
	if (Object.is(before, after)) return [];
	if (isRecord(before) && isRecord(after)) {
		const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
		return [...keys].flatMap((key) => compare(before[key], after[key], [...path, key]));
	}
	if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
		return before.flatMap((item: unknown, index) => compare(item, after[index], [...path, index]));
	}
	return [{ path, before, after }];
}
