import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseEncryptionKeys } from '../../stores/encryption.ts';
import { loadConfig, parseConfig } from '../load.ts';
import { ConfigError } from '../problem.ts';
import { redactedYaml } from '../redacted-config.ts';

const [one, two] = [randomBytes(32), randomBytes(32)];

function encryptionKeyOf(text: string): string | null {
	const file = JSON.stringify({ identity: { encryption_key: text } });
	return parseConfig(file, { file: null, env: {} }).config.identity.encryption_key;
}

describe('identity.encryption_key', () => {
	test.each([
		[one.toString('base64'), [one]],
		[one.toString('base64url'), [one]],
		[one.toString('hex'), [one]],
		[`${two.toString('base64')}\n${one.toString('hex')}\n`, [two, one]],
		[`${two.toString('base64')}, ${one.toString('base64')}`, [two, one]],
	])('%j is what it says', (text, keys) => {
		expect(parseEncryptionKeys(encryptionKeyOf(text) ?? '')).toEqual(keys);
	});

	test.each([
		'',
		'a passphrase',
		randomBytes(31).toString('hex'),
		randomBytes(33).toString('base64'),
		`${one.toString('hex')} passphrase`,
		`${one.toString('hex')}${two.toString('hex')}`,
	])('%j is rejected, without being shown', (text) => {
		const failure = (() => {
			try {
				return encryptionKeyOf(text);
			} catch (cause) {
				return cause;
			}
		})();
		expect(failure).toBeInstanceOf(ConfigError);
		const shown = JSON.stringify((failure as ConfigError).problems);
		expect(shown).toContain('must be 32 bytes in base64 or hex');
		if (text !== '') expect(shown).not.toContain(text);
	});

	test('comes from a file too, and is never printed', () => {
		const directory = mkdtempSync(join(tmpdir(), 'tollgate-config-'));
		onTestFinished(() => rmSync(directory, { recursive: true }));
		const path = join(directory, 'tollgate.json');
		writeFileSync(join(directory, 'key'), `${two.toString('base64')}\n${one.toString('base64')}\n`);
		writeFileSync(path, JSON.stringify({ identity: { encryption_key_file: 'key' } }));
		const { config, files } = loadConfig({ configPath: path, env: {} });
		expect(parseEncryptionKeys(config.identity.encryption_key ?? '')).toEqual([two, one]);
		expect(files).toEqual([path, join(directory, 'key')]);
		const inline = parseConfig(JSON.stringify({ identity: { encryption_key: one.toString('hex') } }), { file: null, env: {} }).config;
		for (const shown of [redactedYaml(config), redactedYaml(inline)]) {
			for (const key of [one, two]) for (const encoding of ['base64', 'hex'] as const) expect(shown).not.toContain(key.toString(encoding));
		}
		expect(redactedYaml(inline)).toContain('encryption_key: "***"');
	});
});
