import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { Config } from '../config/schema.ts';
import { loadRunningConfig, noteDemo } from './demo-mark.ts';

let directory: string;
beforeEach(() => {
	directory = mkdtempSync(join(tmpdir(), 'tollgate-mark-'));
	const before = process.cwd();
	process.chdir(directory);
	onTestFinished(() => {
		process.chdir(before);
		rmSync(directory, { recursive: true });
	});
});

const load = () => loadRunningConfig({ env: {}, workingDirectory: directory });
const simulated = (config: Config) => config.providers['provider_a']?.api_key;

test('after a demo start, its configuration applies to commands without a file', () => {
	expect(load()).toMatchObject({ isDemo: false, config: { enable_admin_api: false } });
	noteDemo(load().config, true);
	const { isDemo, config } = load();
	expect([isDemo, config.enable_admin_api, simulated(config)]).toEqual([true, true, 'simulator']);
	noteDemo(config, false);
	expect(load().isDemo).toBe(false);
});

test('a configuration file takes precedence', () => {
	noteDemo(load().config, true);
	writeFileSync('tollgate.yaml', 'log: { level: warn }\n');
	const { isDemo, config } = load();
	expect([isDemo, config.log.level]).toEqual([false, 'warn']);
	expect(simulated(config)).not.toBe('simulator');
});
