/** A file in the data directory that marks `tollgate start --demo` as the last start. Commands choose their configuration by it. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { demoConfig } from '../config/demo.ts';
import { type LoadedConfig, type LoadOptions, loadConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';

const fileName = 'demo';

export function noteDemo({ data_dir: dataDir }: Config, isDemo: boolean): void {
	const file = join(dataDir, fileName);
	if (!isDemo) return rmSync(file, { force: true });
	mkdirSync(dataDir, { recursive: true, mode: 0o700 });
	writeFileSync(file, 'Commands here that have no configuration file use the settings of the demo, which ran last.\n', { mode: 0o600 });
}

/**
 * Loads the configuration of the product in the data directory. Without a file, that is the demo's after a demo start, otherwise the
 * defaults.
 */
export function loadRunningConfig(options: LoadOptions = {}): LoadedConfig & { readonly isDemo: boolean } {
	const loaded = loadConfig(options);
	const isDemo = loaded.file === null && existsSync(join(loaded.config.data_dir, fileName));
	return { ...loaded, config: isDemo ? demoConfig(loaded.config).config : loaded.config, isDemo };
}
