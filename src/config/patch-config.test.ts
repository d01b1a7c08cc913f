import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { demoConfig } from './demo.ts';
import { loadConfig, parseConfig } from './load.ts';
import { patchConfig } from './patch-config.ts';
import { ConfigError } from './problem.ts';
import type { Raw } from './raw.ts';

const defaults = parseConfig('', { file: null, env: {} }).config;

function problemsOf(patch: Raw): string {
	try {
		patchConfig(defaults, patch);
	} catch (cause) {
		if (cause instanceof ConfigError) return cause.problems.map(({ path, message }) => `${path}: ${message}`).join('\n');
		throw cause;
	}
	return '';
}

describe('patchConfig', () => {
	it.each([
		['defaults', defaults],
		['demo', demoConfig(defaults).config],
	])('without a patch returns the %s unchanged', (_name, config) => {
		expect(patchConfig(config, {})).toEqual(config);
	});

	it('keeps secrets that were read from files', () => {
		const folder = mkdtempSync(join(tmpdir(), 'patch-'));
		writeFileSync(join(folder, 'key'), 'sk-proj-0123456789abcdef');
		writeFileSync(join(folder, 'tollgate.yaml'), 'providers: {provider_b: {api_key_file: key}}\n');
		const { config } = loadConfig({ configPath: join(folder, 'tollgate.yaml'), env: {} });
		expect(patchConfig(config, {}).providers['provider_b']?.api_key).toBe('sk-proj-0123456789abcdef');
	});

	it('merges mappings, and replaces everything else', () => {
		const patched = patchConfig(defaults, { tiers: { sandbox: { rpm: 3 } }, edge: { token_headers: ['authorization'] } });
		expect(patched.tiers['sandbox']).toEqual({ ...defaults.tiers['sandbox'], rpm: 3 });
		expect(patched.tiers['standard']).toEqual(defaults.tiers['standard']);
		expect(patched.edge.token_headers).toEqual(['authorization']);
		expect(defaults.tiers['sandbox']?.rpm).toBe(20);
	});

	it('names every problem, and reads no file', () => {
		expect(problemsOf({ tiers: { sandbox: { rmp: 3, rpm: 'many' } } })).toMatch(
			/tiers\.sandbox\.rmp: .*\n?tiers\.sandbox\.rpm: |tiers\.sandbox\.rpm/,
		);
		expect(problemsOf({ providers: { provider_b: { api_key: null, api_key_file: '/etc/passwd' } } })).toContain(
			'which a patch cannot read',
		);
		expect(problemsOf({ routing: { aliases: { x: 'nowhere/y' } } })).toContain('routing.aliases.x');
	});
});
