import { isRecord, type Path } from '../config/raw.ts';
import type { Config } from '../config/schema.ts';
import { needsRestart } from '../config/schema-tree.ts';

/** Returns `next`, but with the running value of every setting that requires a restart, so that none takes effect partially. */
export function withRestartSettingsOf(running: Config, next: Config): Config {
	return merge(running, next, []) as Config;
}

function merge(running: unknown, next: unknown, path: Path): unknown {
	if (needsRestart(path)) return running;
	if (!isRecord(running) || !isRecord(next)) return next;
	const keys = new Set([...Object.keys(running), ...Object.keys(next)]);
	const merged = [...keys].map((key) => [key, merge(running[key], next[key], [...path, key])] as const);
	return Object.fromEntries(merged.filter(([, value]) => value !== undefined));
}
